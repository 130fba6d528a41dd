/* SPDX-License-Identifier: BSD-3-Clause */
/* Mappings that are compared: what they are read with, and the default that
 * stands beside them. */
#ifndef NW_CLI_PRICED_H
#define NW_CLI_PRICED_H

#include <nodewise/map.h>

/* nw_mapping_read of what is to be priced: no rank's GPU is left open. */
NW_MUST_CHECK nw_status nw_cli_read_priced(const char *path,
                                           const nw_topology *topology,
                                           nw_mapping **out);

/* The default as what given mappings are compared with, which may share: more
 * ranks than elements, or than GPUs, share them evenly. */
NW_MUST_CHECK nw_status nw_cli_default_beside(const nw_topology *topology,
                                              const nw_pattern *pattern,
                                              struct nw_map_options map,
                                              nw_mapping **out);

#endif

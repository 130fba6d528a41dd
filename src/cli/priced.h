/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the mappings to compare, and makes the default mapping beside them. */
#ifndef NW_CLI_PRICED_H
#define NW_CLI_PRICED_H

#include <nodewise/map.h>

/* nw_mapping_read for a mapping to evaluate: an open GPU ('*') is an error. */
NW_MUST_CHECK nw_status nw_cli_read_priced(const char *path,
                                           const nw_topology *topology,
                                           nw_mapping **out);

/* The default mapping for a comparison. If there are more ranks than elements
 * or GPUs, the ranks share them evenly. */
NW_MUST_CHECK nw_status nw_cli_default_beside(const nw_topology *topology,
                                              const nw_pattern *pattern,
                                              struct nw_map_options map,
                                              nw_mapping **out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of `nodewise map --from`. */
#ifndef NW_CLI_MAP_START_H
#define NW_CLI_MAP_START_H

#include <nodewise/map.h>

/* Reads a mapping, or a launcher's rankfile or list of hosts. If the file
 * leaves cores or GPUs open and has as many ranks as the pattern, they become
 * those of the default mapping on the same nodes. The caller frees *out with
 * nw_mapping_free. */
NW_MUST_CHECK nw_status nw_cli_start_read(const char *path,
                                          const nw_topology *topology,
                                          const nw_pattern *pattern,
                                          const struct nw_map_options *options,
                                          nw_mapping **out);

#endif

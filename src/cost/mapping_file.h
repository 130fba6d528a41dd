/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes the mapping format in memory. */
#ifndef NW_COST_MAPPING_FILE_H
#define NW_COST_MAPPING_FILE_H

#include <nodewise/mapping.h>

/* Like nw_mapping_read, from memory. data[length] must be NUL; `data` is
 * changed. `path` is for messages. */
NW_MUST_CHECK nw_status nw_mapping_parse(const char *path, char *data,
                                         size_t length,
                                         const nw_topology *topology,
                                         nw_mapping **out);
/* Makes the text that nw_mapping_write writes. The caller frees *out. */
NW_MUST_CHECK nw_status nw_mapping_text(const nw_mapping *mapping, char **out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the mapping format from memory. */
#ifndef NW_COST_MAPPING_FILE_H
#define NW_COST_MAPPING_FILE_H

#include <nodewise/mapping.h>

/* As nw_mapping_read. `data` is NUL-terminated behind `length`, and changed;
 * `path` is for messages. */
NW_MUST_CHECK nw_status nw_mapping_parse(const char *path, char *data,
                                         size_t length,
                                         const nw_topology *topology,
                                         nw_mapping **out);

#endif

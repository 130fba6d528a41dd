/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the mapping format from memory, and writes it there. */
#ifndef NW_COST_MAPPING_FILE_H
#define NW_COST_MAPPING_FILE_H

#include <nodewise/mapping.h>

/* As nw_mapping_read. `data` is NUL-terminated behind `length`, and changed;
 * `path` is for messages. */
NW_MUST_CHECK nw_status nw_mapping_parse(const char *path, char *data,
                                         size_t length,
                                         const nw_topology *topology,
                                         nw_mapping **out);
/* The text that nw_mapping_write writes. The caller frees *out with free(). */
NW_MUST_CHECK nw_status nw_mapping_text(const nw_mapping *mapping, char **out);

#endif

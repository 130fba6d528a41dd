/* SPDX-License-Identifier: BSD-3-Clause */
/* Large files of plain text, read by several threads at once. */
#ifndef NW_BASE_PIECES_H
#define NW_BASE_PIECES_H

#include <nodewise/status.h>
#include <stddef.h>
#include <stdint.h>

/* As nw_file_read_text where the file is large and regular, has only ASCII and
 * no NUL, and reading it goes well; else *data is NULL, for that to try. */
NW_MUST_CHECK nw_status nw_pieces_read(const char *path, int32_t threads,
                                       char **data, size_t *length);

#endif

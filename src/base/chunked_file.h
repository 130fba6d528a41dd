/* SPDX-License-Identifier: BSD-3-Clause */
/* Large files of plain text, read and written by several threads at once. */
#ifndef NW_BASE_CHUNKED_FILE_H
#define NW_BASE_CHUNKED_FILE_H

#include <nodewise/status.h>
#include <stddef.h>
#include <stdint.h>

/* As nw_file_read_text where the file is large and regular, has only ASCII and
 * no NUL, and reading it goes well; else *data is NULL, for that to try. */
NW_MUST_CHECK nw_status nw_chunked_file_read(const char *path, int32_t threads,
                                             char **data, size_t *length);

struct nw_text;

/* A text that is made piece by piece. */
struct nw_file_chunks {
    int32_t count;
    void (*make)(const void *user, int32_t i, struct nw_text *out);
    const void *user;
};
/* As nw_file_write of all pieces in their order; some are made while those
 * before them are written. */
NW_MUST_CHECK nw_status nw_chunked_file_write(
    const char *path, const struct nw_file_chunks *pieces, int32_t threads);

#endif

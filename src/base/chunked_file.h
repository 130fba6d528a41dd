/* SPDX-License-Identifier: BSD-3-Clause */
/* Large files of plain text, read and written by several threads at once. */
#ifndef NW_BASE_CHUNKED_FILE_H
#define NW_BASE_CHUNKED_FILE_H

#include <nodewise/status.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a large regular file of ASCII text without NUL with up to `threads`
 * threads, like nw_file_read_text. If the file is small or something else, or
 * if reading fails, *data is NULL; the caller then calls nw_file_read_text. */
NW_MUST_CHECK nw_status nw_chunked_file_read(const char *path, int32_t threads,
                                             char **data, size_t *length);

struct nw_text;

/* A text whose pieces can be made in any order: make(user, i, out) makes piece
 * i. */
struct nw_file_chunks {
    int32_t count;
    void (*make)(const void *user, int32_t i, struct nw_text *out);
    const void *user;
};
/* Like nw_file_write for all pieces in order. Threads make some pieces while
 * earlier pieces are written. */
NW_MUST_CHECK nw_status nw_chunked_file_write(
    const char *path, const struct nw_file_chunks *pieces, int32_t threads);

#endif

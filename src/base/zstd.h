/* SPDX-License-Identifier: BSD-3-Clause */
/* Compresses and decompresses files whose name ends in .zst. */
#ifndef NW_BASE_ZSTD_H
#define NW_BASE_ZSTD_H

#include <nodewise/status.h>
#include <stddef.h>

/* Replaces the compressed bytes in *data by the decompressed ones, followed by
 * a NUL. On failure, *data is freed. */
NW_MUST_CHECK nw_status nw_zstd_unpack(const char *path, char **data,
                                       size_t *length);
NW_MUST_CHECK nw_status nw_zstd_pack(const char *data, size_t length,
                                     char **packed, size_t *count);

#endif

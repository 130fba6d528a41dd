/* SPDX-License-Identifier: BSD-3-Clause */
/* Packing and unpacking through libzstd, loaded when the first .zst comes. */
#include "base/zstd.h"
#include "base/array.h"
#include "base/file.h"
#include "base/library.h"
#include "base/status.h"

#include <pthread.h>
#include <unistd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <zstd.h>

static struct {
    size_t (*bound)(size_t);
    size_t (*compress)(void *, size_t, const void *, size_t, int);
    unsigned (*is_error)(size_t);
    ZSTD_DStream *(*new_stream)(void);
    size_t (*free_stream)(ZSTD_DStream *);
    size_t (*decompress)(ZSTD_DStream *, ZSTD_outBuffer *, ZSTD_inBuffer *);
} zstd;

static nw_status zstd_load(void)
{
    const struct nw_symbol symbols[] = {
        {"ZSTD_compressBound", &zstd.bound},
        {"ZSTD_compress", &zstd.compress},
        {"ZSTD_isError", &zstd.is_error},
        {"ZSTD_createDStream", &zstd.new_stream},
        {"ZSTD_freeDStream", &zstd.free_stream},
        {"ZSTD_decompressStream", &zstd.decompress},
    };

    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static bool is_loaded;
    nw_status status = NW_OK;

    pthread_mutex_lock(&mutex);
    if (!is_loaded)
        status = nw_library_load("libzstd.so.1", symbols,
                                 sizeof symbols / sizeof *symbols,
                                 "for files named .zst");
    is_loaded = !status;
    pthread_mutex_unlock(&mutex);
    return status;
}

/* Unpacks in pieces, and fails at the limit of nw_file_most_of_pipe. The
 * unpacked size in the file's header may be wrong, so it is not used. */
static nw_status zstd_unpack(ZSTD_DStream *stream, const char *path,
                             ZSTD_inBuffer in, char **data, size_t *length)
{
    ZSTD_outBuffer out = {0};
    size_t capacity = 0, left = 1, most = nw_file_most_of_pipe();
    nw_status status;

    while (in.pos < in.size || left) {
        size_t before = in.pos + out.pos;

        status = nw_grow(&out.dst, &capacity, out.pos + 65536, 1);
        if (status)
            goto fail;
        if (out.pos > most) {
            status = nw_fail(NW_EFORMAT, "%s:1: more than %zu MiB are packed",
                             path, most >> 20);
            goto fail;
        }
        out.size = capacity - 1 < most ? capacity - 1 : most + 1;
        left = zstd.decompress(stream, &out, &in);
        if (zstd.is_error(left) || (left && in.pos + out.pos == before)) {
            status = nw_fail(NW_EFORMAT, "%s:1: damaged or truncated zstd data",
                             path);
            goto fail;
        }
    }
    ((char *)out.dst)[out.pos] = '\0';
    *data = out.dst;
    *length = out.pos;
    return NW_OK;
fail:
    free(out.dst);
    return status;
}

nw_status nw_zstd_unpack(const char *path, char **data, size_t *length)
{
    char *packed = *data;
    ZSTD_DStream *stream;
    nw_status status = zstd_load();

    *data = NULL;
    if (status) {
        free(packed);
        return status;
    }
    stream = zstd.new_stream();
    if (!stream)
        status = nw_fail(NW_ENOMEM, "out of memory to unpack %s", path);
    else
        status = zstd_unpack(stream, path, (ZSTD_inBuffer){packed, *length, 0},
                             data, length);
    zstd.free_stream(stream);
    free(packed);
    return status;
}

nw_status nw_zstd_pack(const char *data, size_t length, char **packed,
                       size_t *count)
{
    size_t size;
    nw_status status = zstd_load();

    if (status)
        return status;
    status = nw_alloc(zstd.bound(length), 1, packed);
    if (status)
        return status;
    size = zstd.compress(*packed, zstd.bound(length), data, length, 3);
    if (zstd.is_error(size)) {
        free(*packed);
        *packed = NULL;
        return nw_fail(NW_EIO, "zstd could not pack the data");
    }
    *count = size;
    return NW_OK;
}

size_t nw_file_most_of_pipe(void)
{
    size_t most = (size_t)1 << 31, page = (size_t)sysconf(_SC_PAGESIZE);
    size_t half = (size_t)sysconf(_SC_PHYS_PAGES) / 2 * page;

    return half < most ? half : most;
}

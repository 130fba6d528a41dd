/* SPDX-License-Identifier: BSD-3-Clause */
/* Each piece is read and looked through while it is still near the core. */
#include "base/pieces.h"
#include "base/array.h"
#include "base/crew.h"
#include "base/file.h"
#include "base/text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE ((size_t)1 << 21)
#define LEAST (4 * PIECE)

struct pieces {
    int fd;
    char *data;
    size_t length;
    int failed;
};

static void read_piece(void *user, int32_t i)
{
    struct pieces *pieces = user;
    size_t begin = (size_t)i * PIECE, left = pieces->length - begin;
    size_t count = left < PIECE ? left : PIECE;
    char *at = pieces->data + begin;
    ssize_t got = pread(pieces->fd, at, count, (off_t)begin);

    if (got != (ssize_t)count || !nw_text_is_ascii(at, count))
        __atomic_store_n(&pieces->failed, 1, __ATOMIC_RELAXED);
}

static nw_status read_open(struct pieces *pieces, int32_t threads)
{
    size_t count = (pieces->length + PIECE - 1) / PIECE;
    nw_status status;

    if (count > INT32_MAX)
        return NW_OK;
    status = nw_alloc_raw(pieces->length + 1, 1, &pieces->data);
    if (status)
        return status;
    nw_crew_run(read_piece, pieces, (int32_t)count, threads);
    pieces->data[pieces->length] = '\0';
    if (pieces->failed) {
        free(pieces->data);
        pieces->data = NULL;
    }
    return NW_OK;
}

nw_status nw_pieces_read(const char *path, int32_t threads, char **data,
                         size_t *length)
{
    struct pieces pieces = {0};
    struct stat info;
    nw_status status = NW_OK;

    *data = NULL;
    if (nw_text_ends_with(path, ".zst") || stat(path, &info) ||
        !S_ISREG(info.st_mode) || info.st_size < (off_t)LEAST)
        return NW_OK;
    pieces.length = (size_t)info.st_size;
    pieces.fd = open(path, O_RDONLY | O_CLOEXEC);
    if (pieces.fd < 0)
        return NW_OK;
    status = read_open(&pieces, threads);
    close(pieces.fd);
    *data = pieces.data;
    *length = pieces.length;
    return status;
}

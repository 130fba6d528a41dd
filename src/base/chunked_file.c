/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes large text files in pieces, with several threads. A piece is
 * checked right after it was read, or written right after it was made, while it
 * is still in the core's cache. */
#include "base/chunked_file.h"
#include "base/array.h"
#include "base/parallel.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE ((size_t)1 << 21)
#define LEAST (4 * PIECE)

/* A file that is being read in pieces into `data`. `failed` is 1 if a piece
 * could not be read or is not ASCII. */
struct chunked_file_reading {
    int fd;
    char *data;
    size_t length;
    int failed;
};

static void read_piece(void *user, int32_t i)
{
    struct chunked_file_reading *reading = user;
    size_t begin = (size_t)i * PIECE, left = reading->length - begin;
    size_t count = left < PIECE ? left : PIECE;
    char *at = reading->data + begin;
    ssize_t got = pread(reading->fd, at, count, (off_t)begin);

    if (got != (ssize_t)count || !nw_text_is_ascii(at, count))
        __atomic_store_n(&reading->failed, 1, __ATOMIC_RELAXED);
}

static nw_status read_open(struct chunked_file_reading *reading,
                           int32_t threads)
{
    size_t count = (reading->length + PIECE - 1) / PIECE;
    nw_status status;

    if (count > INT32_MAX)
        return NW_OK;
    status = nw_alloc_raw(reading->length + 1, 1, &reading->data);
    if (status)
        return status;
    nw_parallel_run(read_piece, reading, (int32_t)count, threads);
    reading->data[reading->length] = '\0';
    if (reading->failed) {
        free(reading->data);
        reading->data = NULL;
    }
    return NW_OK;
}

nw_status nw_chunked_file_read(const char *path, int32_t threads, char **data,
                               size_t *length)
{
    struct chunked_file_reading reading = {0};
    struct stat info;
    nw_status status = NW_OK;

    *data = NULL;
    if (nw_text_ends_with(path, ".zst") || stat(path, &info) ||
        !S_ISREG(info.st_mode) || info.st_size < (off_t)LEAST)
        return NW_OK;
    reading.length = (size_t)info.st_size;
    reading.fd = open(path, O_RDONLY | O_CLOEXEC);
    if (reading.fd < 0)
        return NW_OK;
    status = read_open(&reading, threads);
    close(reading.fd);
    *data = reading.data;
    *length = reading.length;
    return status;
}

/* A file that is being written. Each piece becomes a text in text[i]; then
 * is_made[i] is set. */
struct writing {
    const struct nw_file_chunks *pieces;
    struct nw_text *text; /* [count] */
    bool *is_made;
    int fd;
    const char *path;
    pthread_mutex_t lock; /* protects the members below */
    int32_t next;         /* the next piece to write */
    nw_status status;
    struct nw_error error;
};

static nw_status chunked_file_put(struct writing *writing, struct nw_text *text)
{
    size_t length = text->length;
    char *data;
    nw_status status = nw_text_take(text, &data);

    if (status)
        return status;
    status = nw_file_put(writing->fd, writing->path, data, length);
    free(data);
    return status;
}

/* Writes the pieces that are made, in order, up to the first that is not
 * made. */
static void put_made(struct writing *writing)
{
    while (
        !writing->status && writing->next < writing->pieces->count &&
        __atomic_load_n(&writing->is_made[writing->next], __ATOMIC_ACQUIRE)) {
        writing->status =
            chunked_file_put(writing, &writing->text[writing->next++]);
        if (writing->status)
            nw_error_keep(&writing->error);
    }
}

/* Makes piece i, and then writes all pieces whose turn it is, unless another
 * thread is writing. In that case, piece i is written later: by this other
 * thread, by a thread that makes a later piece, or by chunked_file_fill. */
static void make_piece(void *user, int32_t i)
{
    struct writing *writing = user;

    writing->pieces->make(writing->pieces->user, i, &writing->text[i]);
    __atomic_store_n(&writing->is_made[i], true, __ATOMIC_RELEASE);
    if (pthread_mutex_trylock(&writing->lock))
        return;
    put_made(writing);
    pthread_mutex_unlock(&writing->lock);
}

struct making {
    const struct nw_file_chunks *pieces;
    int32_t threads;
};

static nw_status chunked_file_fill(void *user, int fd, const char *path)
{
    const struct making *making = user;
    struct writing writing = {.pieces = making->pieces,
                              .fd = fd,
                              .path = path,
                              .lock = PTHREAD_MUTEX_INITIALIZER};
    size_t count = (size_t)making->pieces->count;
    nw_status status = nw_alloc(count, sizeof *writing.text, &writing.text);

    if (!status)
        status = nw_alloc(count, sizeof *writing.is_made, &writing.is_made);
    if (!status) {
        nw_parallel_run(make_piece, &writing, making->pieces->count,
                        making->threads);
        put_made(&writing);
        if (writing.status)
            status = nw_error_pass(writing.status, &writing.error);
    }
    for (size_t i = 0; writing.text && i < count; i++)
        nw_text_fini(&writing.text[i]);
    free(writing.text);
    free(writing.is_made);
    return status;
}

/* The compressor needs the whole text in one piece. */
static nw_status write_packed(const char *path,
                              const struct nw_file_chunks *pieces)
{
    struct nw_text text = {0};

    for (int32_t i = 0; i < pieces->count; i++)
        pieces->make(pieces->user, i, &text);
    return nw_file_write_text(path, &text);
}

nw_status nw_chunked_file_write(const char *path,
                                const struct nw_file_chunks *pieces,
                                int32_t threads)
{
    struct making making = {pieces, threads};

    if (nw_text_ends_with(path, ".zst"))
        return write_packed(path, pieces);
    return nw_file_write_by(path, chunked_file_fill, &making);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small copies into a GPU that several processes use. The driver puts such a
 * copy into the queue of the context's kernels. If another process has just
 * copied, the GPU first switches contexts, which takes 146 us on an H100. A
 * copy engine serves all contexts without a switch. The driver uses the copy
 * engine for a two-dimensional copy, which takes 10 us. On a GPU that no other
 * process uses, the driver's usual copy takes 6 us
 * (bench/results/gpu-sharing-2026-11-26.txt). So each copy here is made as two
 * rows.
 */
#include "channel/memory/shared_gpu_copy.h"

#include "channel/memory/sharing.h"
#include "gpu/gpu.h"

#include <pthread.h>
#include <string.h>

enum {
    /* Largest copy in bytes; a message of 64 KiB took 15 % longer this way. */
    LIMIT = 32768,
    /* Bytes between the two rows. Without a gap, the driver could treat both
     * rows as one linear copy. */
    GAP = 64,
};

struct turns {
    pthread_mutex_t lock;
    char *stage; /* pinned memory for the two rows */
    struct nw_gpu_life life;
};

static const struct nw_gpu *const gpus = &nw_gpu_cuda;
static struct turns turns_of[NW_GPUS] = {
    [0 ... NW_GPUS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

bool nw_turns_serve(int32_t gpu, const void *to, size_t bytes)
{
    return gpu >= 0 && gpu < NW_GPUS && bytes >= 2 && bytes <= LIMIT &&
           nw_sharing_takes_turns(gpu) && gpus->serves(to);
}

/* Allocates the pinned memory, unless it exists. Allocates it again if the
 * program has reset the GPU. */
static nw_status turns_stage(struct turns *one)
{
    void *stage = NULL;
    nw_status status;

    if (one->stage && gpus->lives(&one->life))
        return NW_OK;
    one->stage = NULL;
    one->life = gpus->life();
    status = gpus->alloc_pinned(LIMIT + GAP, &stage);
    if (!status)
        one->stage = stage;
    return status;
}

static nw_status turns_rows(const struct turns *one, char *to, const char *from,
                            size_t bytes)
{
    size_t width = bytes / 2;
    struct nw_gpu_copy copy = {.to = to,
                               .from = one->stage,
                               .row_bytes = width,
                               .rows = 2,
                               .planes = 1,
                               .to_row = width,
                               .to_plane = bytes,
                               .from_row = width + GAP,
                               .from_plane = 2 * (width + GAP)};
    nw_gpu_stream stream = gpus->own();
    nw_status status;

    memcpy(one->stage, from, width);
    memcpy(one->stage + copy.from_row, from + width, width);
    status = gpus->copy_box(&copy, stream);
    return status ? status : gpus->stream_wait(stream);
}

nw_status nw_turns_copy_in(int32_t gpu, void *to, const void *from,
                           size_t bytes)
{
    struct turns *one = &turns_of[gpu];
    size_t even = bytes / 2 * 2;
    nw_status status;

    (void)pthread_mutex_lock(&one->lock);
    if (turns_stage(one)) { /* without pinned memory, use the slower call */
        (void)pthread_mutex_unlock(&one->lock);
        return gpus->copy_in(to, from, bytes);
    }
    status = turns_rows(one, to, from, even);
    /* If the number of bytes is odd, two rows of one byte copy the last two
     * bytes; the byte before the last is copied twice. */
    if (!status && even < bytes)
        status = turns_rows(one, (char *)to + bytes - 2,
                            (const char *)from + bytes - 2, 2);
    (void)pthread_mutex_unlock(&one->lock);
    return status;
}

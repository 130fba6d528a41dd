/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies between a GPU buffer and the host memory that replaces it. If the data
 * consists of many pieces, the GPU packs or unpacks them (pack_kernels.c), so
 * that one contiguous copy suffices. If that was slower so far, the CPU copies
 * the pieces one by one through a mapping of GPU memory.
 */
#include "runtime/messages/staging.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/status.h"
#include "gpu/gpu.h"
#include "runtime/messages/pack_kernels.h"
#include "runtime/messages/copy_path.h"

#include <stdlib.h>
#include <string.h>

enum { FEW_PIECES = 2 };
/* Most bytes that the CPU writes to a GPU (MOST_SCATTERED) and reads from it
 * (MOST_GATHERED) piece by piece. */
enum { MOST_SCATTERED = 65536, MOST_GATHERED = 4096 };

/* A copy between GPU memory and contiguous host memory: of one part of a
 * buffer, or of a whole buffer that is packed on the host. */
struct move {
    const struct nw_typemap *layout;
    int64_t count;
    const struct nw_pointer *owner;
    char *device, *host;
    bool out;      /* true: from the GPU to the host */
    uint64_t left; /* bytes that are still to be copied */
    nw_status status;
};

static bool move_piece(void *context, MPI_Aint offset, size_t bytes)
{
    struct move *move = context;
    size_t n = bytes < move->left ? bytes : (size_t)move->left;

    if (n)
        move->status = nw_copy_path_move(&(struct nw_path_copy){
            move->out, move->device + offset, move->host, n, move->owner});
    move->host += n;
    move->left -= n;
    return !move->status && move->left;
}

static nw_status move_pieces(struct move *move)
{
    nw_typemap_walk(move->layout, move->count, move_piece, move);
    return move->status;
}

static nw_status run_job(const struct move *move,
                         const struct nw_pack_kernel *job)
{
    size_t bytes = (size_t)move->left;
    nw_status status = NW_OK;

    if (!move->out)
        status = nw_gpu_cuda.copy_in(job->dense, move->host, bytes);
    if (!status)
        status = nw_pack_kernel_run(job);
    if (!status && move->out)
        status = nw_gpu_cuda.copy_out(move->host, job->dense, bytes);
    return status;
}

/* A copy by the CPU, piece by piece, through a mapping of GPU memory. */
struct scatter {
    bool out;
    char *mapped; /* address by which the CPU accesses move->device */
    char *host;
};

static bool scatter_piece(void *context, MPI_Aint offset, size_t bytes)
{
    struct scatter *scatter = context;

    nw_copy_path_piece(scatter->out, scatter->mapped + offset, scatter->host,
                       bytes);
    scatter->host += bytes;
    return true;
}

static char *open_pieces(const struct move *move)
{
    MPI_Aint low = nw_typemap_low(move->layout, move->count);
    char *mapped = NULL;

    if (move->left <= (move->out ? MOST_GATHERED : MOST_SCATTERED))
        mapped = nw_copy_path_open(&(struct nw_path_copy){
            .out = move->out,
            .device = move->device + low,
            .bytes = nw_typemap_span(move->layout, move->count),
            .owner = move->owner});
    return mapped ? mapped - low : NULL;
}

/* Copies the data by the pack kernel `job` or by the CPU, whichever was faster
 * so far for the pieces of this kernel; always by the CPU if the user has
 * chosen this and the CPU can map the memory. */
static nw_status move_job(const struct move *move, struct nw_pack_kernel *job)
{
    struct scatter scatter = {
        .out = move->out, .mapped = open_pieces(move), .host = move->host};
    bool timed = false;
    nw_status status = NW_OK;
    uint64_t start;
    int path;

    if (!scatter.mapped)
        return run_job(move, job);
    path =
        nw_copy_path_are_forced() || nw_selector_pick(&job->selector, &timed);
    start = nw_clock_ns();
    if (path)
        nw_typemap_walk(move->layout, move->count, scatter_piece, &scatter);
    nw_copy_path_shut();
    if (!path)
        status = run_job(move, job);
    if (!status && timed)
        nw_selector_took(&job->selector, path, nw_clock_ns() - start);
    return status;
}

static bool is_few(const struct nw_typemap *layout, int64_t count)
{
    int64_t pieces = 0;

    for (size_t i = 0; i < layout->count && pieces <= FEW_PIECES; i++)
        pieces += count * layout->run[i].n[0] * layout->run[i].n[1];
    return pieces <= FEW_PIECES;
}

/* Copies by a pack kernel on the GPU of the data. Leaves the current GPU
 * unchanged. Returns false if that was impossible or has failed; the caller
 * then copies all data in another way. */
static bool move_by_job(const struct move *move)
{
    void *before = nw_gpu_cuda.context();
    struct nw_pack_kernel *job = NULL;
    bool moved = false;

    if (!nw_gpu_cuda.select(move->owner->gpu) &&
        !nw_pack_kernel_take(&(struct nw_pieces){.layout = move->layout,
                                                 .count = move->count,
                                                 .device = move->device,
                                                 .gpu = move->owner->gpu,
                                                 .out = move->out},
                             &job)) {
        moved = !move_job(move, job);
        nw_pack_kernel_give(job, moved);
    }
    nw_gpu_cuda.restore(before);
    return moved;
}

/* Copies between contiguous host memory and the pieces on the GPU by a pack
 * kernel. Copies piece by piece if there are few pieces or if no kernel can be
 * used: out of memory, an unsupported GPU, an incomplete last element, or a
 * datatype with `gaps` (typemap.h). Such a copy also reports the error of a
 * broken GPU. */
static nw_status move_dense(struct move *move)
{
    const struct nw_typemap *layout = move->layout;
    uint64_t all = (uint64_t)move->count * layout->size;

    if (!move->left)
        return NW_OK;
    if (layout->dense || layout->gaps || move->left < all ||
        is_few(layout, move->count) || !move_by_job(move))
        return move_pieces(move);
    return NW_OK;
}

/* A copy between packed bytes (`dense`) and host memory that has the gaps of
 * the datatype (`at`). gather: packs; else unpacks. */
struct spread {
    char *at, *dense;
    uint64_t left;
    bool gather;
};

static bool spread_piece(void *context, MPI_Aint offset, size_t bytes)
{
    struct spread *spread = context;
    size_t n = bytes < spread->left ? bytes : (size_t)spread->left;

    if (spread->gather)
        memcpy(spread->dense, spread->at + offset, n);
    else
        memcpy(spread->at + offset, spread->dense, n);
    spread->dense += n;
    spread->left -= n;
    return spread->left > 0;
}

/* Visitor of nw_typemap_walk: sums up the bytes of all pieces. For pair types
 * such as MPI_DOUBLE_INT, which have a gap inside a run, the sum is greater
 * than the packed size. */
static bool add_bytes(void *context, MPI_Aint offset, size_t bytes)
{
    (void)offset;
    *(uint64_t *)context += bytes;
    return true;
}

static uint64_t run_bytes(const struct nw_part *part)
{
    uint64_t bytes = 0;

    if (!part->layout->gaps)
        return (uint64_t)part->count * part->layout->size;
    nw_typemap_walk(part->layout, part->count, add_bytes, &bytes);
    return bytes;
}

static nw_status move_spread(const struct nw_buffer *buffer,
                             const struct nw_part *part, struct move *move)
{
    struct spread spread = {.left = move->left, .gather = !move->out};
    struct nw_host *dense = NULL;
    nw_status status = nw_pinned_cache_take(move->left, &dense);

    if (status)
        return status;
    spread.at = buffer->host->memory + (part->offset - buffer->low);
    spread.dense = move->host = dense->memory;
    if (!move->out)
        nw_typemap_walk(part->layout, part->count, spread_piece, &spread);
    status = move_dense(move);
    if (!status && move->out)
        nw_typemap_walk(part->layout, part->count, spread_piece, &spread);
    nw_pinned_cache_give(dense);
    return status;
}

/* A copy of the first `most` bytes of a staged buffer, counted in the order of
 * MPI_Pack, between the GPU and its host memory. */
struct all {
    const struct nw_buffer *buffer;
    const struct nw_pointer *owner;
    bool out;
    uint64_t most;
};

static nw_status move_part(struct all *all, const struct nw_part *part)
{
    const struct nw_buffer *buffer = all->buffer;
    uint64_t bytes = run_bytes(part);
    struct move move = {
        .layout = part->layout,
        .count = part->count,
        .device = buffer->device + part->offset,
        .owner = all->owner,
        .out = all->out,
        .left = bytes < all->most ? bytes : all->most,
    };

    all->most -= move.left;
    if (!move.left)
        return NW_OK;
    if (buffer->packed) {
        move.host = buffer->host->memory;
        return move_dense(&move);
    }
    if (!part->layout->dense)
        return move_spread(buffer, part, &move);
    move.host =
        buffer->host->memory + (part->offset + part->layout->lb - buffer->low);
    return move_pieces(&move);
}

static nw_status copies_move_all(struct all all)
{
    nw_status status = NW_OK;

    for (size_t i = 0; i < all.buffer->parts && !status; i++)
        status = move_part(&all, &all.buffer->part[i]);
    return status;
}

/* Sets *out to the allocation that contains the first part of the program's
 * buffer now. It may have changed since the buffer was staged, if the program
 * freed and allocated memory. */
static void look_again(const struct nw_buffer *buffer, struct nw_pointer *out)
{
    const struct nw_part *first = buffer->part;

    *out = buffer->owner;
    if (out->id)
        (void)nw_pointer_find(buffer->device + first->offset +
                                  nw_typemap_low(first->layout, first->count),
                              out);
}

nw_status nw_buffer_fill(const struct nw_buffer *buffer, bool at_once)
{
    struct nw_pointer owner = buffer->owner;

    if (!at_once)
        look_again(buffer, &owner);
    return copies_move_all((struct all){buffer, &owner, true, UINT64_MAX});
}

nw_status nw_buffer_empty(const struct nw_buffer *buffer, uint64_t most)
{
    const struct nw_part *first = buffer->part;
    struct nw_pointer owner;

    /* MPI's sizes leave out the gaps inside elements; run_bytes counts them */
    if (most != UINT64_MAX && first->layout->gaps)
        most = most / first->layout->size *
               (run_bytes(first) / (uint64_t)first->count);
    look_again(buffer, &owner);
    return copies_move_all((struct all){buffer, &owner, false, most});
}

void nw_copies_close(void)
{
    nw_pack_kernels_close();
    nw_copy_path_close();
}

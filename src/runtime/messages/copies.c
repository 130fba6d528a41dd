/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between a buffer on a GPU and its host memory. What lies in many pieces goes
 * through the pack kernels and one dense copy; the tables of a kernel are kept,
 * since programs repeat their messages.
 */
#include "runtime/messages/staging.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/pace.h"
#include "base/status.h"
#include "gpu/job.h"
#include "runtime/messages/ways.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_JOBS = 32, FEW_PIECES = 2, WIDEST = 16, LINE = 64 };
/* What the CPU may scatter into a GPU, and gather out of it. */
enum { MOST_SCATTERED = 65536, MOST_GATHERED = 4096 };

/* A kernel ready to move one set of pieces to or from its dense twin. */
struct job {
    struct job *next;
    uint64_t layout;
    const char *device;
    int64_t count;
    int32_t gpu;
    enum nw_gpu_work work;
    char *dense; /* on the GPU */
    struct nw_gpu_job *kernel;
    struct nw_pace pace; /* of the kernel, and of the CPU in its place */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct job *jobs; /* last used first */

/* One part of a buffer, or the whole of a packed one, and its dense bytes. */
struct move {
    const struct nw_typemap *layout;
    int64_t count;
    const struct nw_owner *owner;
    char *device, *host;
    bool out;      /* of the GPU */
    uint64_t left; /* bytes still to be moved */
    nw_status status;
};

static bool move_piece(void *context, MPI_Aint offset, size_t bytes)
{
    struct move *move = context;
    size_t n = bytes < move->left ? bytes : (size_t)move->left;

    if (n)
        move->status = nw_ways_move(&(struct nw_haul){
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

static void free_job(struct job *job)
{
    nw_gpu_job_free(job->kernel);
    nw_gpu_cuda.free(job->dense);
    free(job);
}

/* The widest words that a run is made of become the elements. */
static nw_status set_piece(const struct nw_run *run, struct nw_gpu_piece *out)
{
    size_t word = WIDEST;

    while (run->bytes % word)
        word /= 2;
    if ((run->bytes / word | (uint64_t)run->n[0] | (uint64_t)run->n[1]) >> 31)
        return nw_fail(NW_EUNSUPPORTED, "a datatype too large for a kernel");
    *out = (struct nw_gpu_piece){.bytes = word, .quantities = 1};
    if (word == run->bytes) {
        out->x = (uint32_t)run->n[0];
        out->y = (uint32_t)run->n[1];
        out->z = 1;
        out->to_step = out->from_step = run->step[0];
        out->to_row = out->from_row = run->step[1];
        return NW_OK;
    }
    out->x = (uint32_t)(run->bytes / word);
    out->y = (uint32_t)run->n[0];
    out->z = (uint32_t)run->n[1];
    out->to_step = out->from_step = (int64_t)word;
    out->to_row = out->from_row = run->step[0];
    out->to_plane = out->from_plane = run->step[1];
    return NW_OK;
}

static nw_status set_pieces(const struct job *job, const struct nw_typemap *all,
                            struct nw_gpu_piece *pieces)
{
    char *dense = job->dense, *device = (char *)(uintptr_t)job->device;
    nw_status status = NW_OK;

    for (size_t i = 0; i < all->count && !status; i++) {
        const struct nw_run *run = &all->run[i];
        bool pack = job->work == NW_GPU_PACK;

        status = set_piece(run, &pieces[i]);
        pieces[i].to = pack ? dense : device + run->offset;
        pieces[i].from = pack ? device + run->offset : dense;
        dense += run->bytes * (size_t)run->n[0] * (size_t)run->n[1];
    }
    return status;
}

static nw_status make_job(const struct move *move, struct job *job)
{
    struct nw_typemap all = {.users = 0};
    struct nw_gpu_piece *pieces = NULL;
    void *dense = NULL;
    nw_status status = nw_runs_repeat(&all, move->layout, move->count,
                                      (MPI_Aint[]){0, move->layout->extent});

    *job = (struct job){
        .layout = move->layout->id,
        .device = move->device,
        .count = move->count,
        .gpu = move->owner->gpu,
        .work = move->out ? NW_GPU_PACK : NW_GPU_UNPACK,
    };
    if (!status)
        status = nw_alloc(all.count, sizeof *pieces, &pieces);
    if (!status)
        status = nw_gpu_cuda.alloc(move->left, &dense);
    job->dense = dense;
    if (!status)
        status = set_pieces(job, &all, pieces);
    if (!status)
        status = nw_gpu_job_new(&nw_gpu_cuda, job->work, pieces, all.count,
                                &job->kernel);
    free(all.run);
    free(pieces);
    return status;
}

static bool fits(const struct job *job, const struct move *move)
{
    return job->layout == move->layout->id && job->device == move->device &&
           job->count == move->count && job->gpu == move->owner->gpu &&
           (job->work == NW_GPU_PACK) == move->out;
}

/* Out of the list, made where there was none. */
static nw_status take_job(const struct move *move, struct job **out)
{
    struct job **at = &jobs, *job;
    nw_status status;

    pthread_mutex_lock(&lock);
    while (*at && !fits(*at, move))
        at = &(*at)->next;
    job = *at;
    if (job)
        *at = job->next;
    pthread_mutex_unlock(&lock);
    if (!job) {
        status = nw_alloc(1, sizeof *job, &job);
        if (!status)
            status = make_job(move, job);
        if (status && job)
            free_job(job);
        if (status)
            return status;
    }
    *out = job;
    return NW_OK;
}

static void give_job(struct job *job)
{
    struct job **at = &jobs, *last = NULL;
    int count = 0;

    pthread_mutex_lock(&lock);
    job->next = jobs;
    jobs = job;
    while (*at && ++count <= MOST_JOBS)
        at = &(*at)->next;
    last = *at;
    *at = NULL;
    pthread_mutex_unlock(&lock);
    if (last)
        free_job(last);
}

static nw_status run_job(const struct move *move, const struct job *job)
{
    size_t bytes = (size_t)move->left;
    nw_status status = NW_OK;

    if (!move->out)
        status = nw_gpu_cuda.copy_in(job->dense, move->host, bytes);
    if (!status)
        status = nw_gpu_job_launch(job->kernel, NULL);
    if (!status)
        status = nw_gpu_cuda.stream_wait(NULL);
    if (!status && move->out)
        status = nw_gpu_cuda.copy_out(move->host, job->dense, bytes);
    return status;
}

/* The pieces by the CPU, each to or from its place. */
struct scatter {
    bool out;
    char *mapped; /* where the buffer begins */
    char *host;
    size_t touched;
};

static bool scatter_piece(void *context, MPI_Aint offset, size_t bytes)
{
    struct scatter *scatter = context;

    nw_ways_piece(scatter->out, scatter->mapped + offset, scatter->host, bytes);
    scatter->host += bytes;
    scatter->touched += (bytes + LINE - 1) / LINE * LINE;
    return true;
}

static char *open_pieces(const struct move *move)
{
    MPI_Aint low = nw_typemap_low(move->layout, move->count);
    char *mapped = NULL;

    if (move->left <= (move->out ? MOST_GATHERED : MOST_SCATTERED))
        mapped = nw_ways_open(&(struct nw_haul){
            .out = move->out,
            .device = move->device + low,
            .bytes = nw_typemap_span(move->layout, move->count),
            .owner = move->owner});
    return mapped ? mapped - low : NULL;
}

/* By the kernel or by the CPU, whichever took less time for this job. */
static nw_status move_job(const struct move *move, struct job *job)
{
    struct scatter scatter = {
        .out = move->out, .mapped = open_pieces(move), .host = move->host};
    bool timed = false;
    nw_status status = NW_OK;
    uint64_t start;
    int way;

    if (!scatter.mapped)
        return run_job(move, job);
    way = nw_ways_are_forced() || nw_pace_pick(&job->pace, &timed);
    start = nw_clock_ns();
    if (way)
        nw_typemap_walk(move->layout, move->count, scatter_piece, &scatter);
    nw_ways_shut(move->out, scatter.touched);
    if (!way)
        status = run_job(move, job);
    if (!status && timed)
        nw_pace_took(&job->pace, way, nw_clock_ns() - start);
    return status;
}

static bool is_few(const struct nw_typemap *layout, int64_t count)
{
    int64_t pieces = 0;

    for (size_t i = 0; i < layout->count && pieces <= FEW_PIECES; i++)
        pieces += count * layout->run[i].n[0] * layout->run[i].n[1];
    return pieces <= FEW_PIECES;
}

/* With the GPU current; false where nothing was moved. */
static bool move_by_job(const struct move *move)
{
    void *before = nw_gpu_cuda.context();
    struct job *job = NULL;
    bool moved = false;

    if (!nw_gpu_cuda.select(move->owner->gpu) && !take_job(move, &job)) {
        moved = !move_job(move, job);
        if (moved)
            give_job(job);
        else
            free_job(job);
    }
    nw_gpu_cuda.restore(before);
    return moved;
}

/* Dense bytes on the host, from or to wherever they are on the GPU. Without a
 * kernel (no memory for one, none for this GPU, a part of an element) piece by
 * piece: a GPU that is broken fails there, too. */
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

/* Between dense bytes and host memory with the buffer's own gaps. */
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

/* Bytes of the runs, which for pairs with a gap inside are more than packed. */
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
    nw_status status = nw_host_take(move->left, &dense);

    if (status)
        return status;
    spread.at = buffer->host->memory + (part->offset - buffer->low);
    spread.dense = move->host = dense->memory;
    if (!move->out)
        nw_typemap_walk(part->layout, part->count, spread_piece, &spread);
    status = move_dense(move);
    if (!status && move->out)
        nw_typemap_walk(part->layout, part->count, spread_piece, &spread);
    nw_host_give(dense);
    return status;
}

/* Which bytes of a buffer, to or from where. */
struct all {
    const struct nw_buffer *buffer;
    const struct nw_owner *owner;
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

static nw_status move_all(struct all all)
{
    nw_status status = NW_OK;

    for (size_t i = 0; i < all.buffer->parts && !status; i++)
        status = move_part(&all, &all.buffer->part[i]);
    return status;
}

/* Some time may have passed since the buffer was staged. */
static void look_again(const struct nw_buffer *buffer, struct nw_owner *out)
{
    const struct nw_part *first = buffer->part;

    *out = buffer->owner;
    if (out->id)
        (void)nw_owner_find(buffer->device + first->offset +
                                nw_typemap_low(first->layout, first->count),
                            out);
}

nw_status nw_buffer_fill(const struct nw_buffer *buffer, bool at_once)
{
    struct nw_owner owner = buffer->owner;

    if (!at_once)
        look_again(buffer, &owner);
    return move_all((struct all){buffer, &owner, true, UINT64_MAX});
}

nw_status nw_buffer_empty(const struct nw_buffer *buffer, uint64_t most)
{
    const struct nw_part *first = buffer->part;
    struct nw_owner owner;

    /* MPI counts such elements without the bytes in their gaps */
    if (most != UINT64_MAX && first->layout->gaps)
        most = most / first->layout->size *
               (run_bytes(first) / (uint64_t)first->count);
    look_again(buffer, &owner);
    return move_all((struct all){buffer, &owner, false, most});
}

void nw_buffer_free(struct nw_buffer *buffer)
{
    if (!buffer)
        return;
    for (size_t i = 0; i < buffer->parts; i++)
        nw_typemap_drop(buffer->part[i].layout);
    nw_host_give(buffer->host);
    free(buffer->slot);
    if (buffer->part != &buffer->only)
        free(buffer->part);
    free(buffer);
}

void nw_copies_close(void)
{
    struct job *next;

    for (struct job *job = jobs; job; job = next) {
        next = job->next;
        free_job(job);
    }
    jobs = NULL;
    nw_ways_close();
}

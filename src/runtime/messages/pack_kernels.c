/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that pack pieces of GPU memory into contiguous bytes, or unpack them.
 * A list keeps the kernels that were used last. */
#include "runtime/messages/pack_kernels.h"

#include "base/array.h"
#include "base/status.h"
#include "channel/memory/memory.h"
#include "gpu/copy_job.h"

#include <pthread.h>
#include <stdlib.h>

enum { MOST_JOBS = 64, WIDEST = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nw_pack_kernel *jobs; /* kernels for reuse, most recently used
                                       first */

static void free_job(struct nw_pack_kernel *job)
{
    nw_gpu_copy_job_free(job->kernel);
    if (!job->what.dense && nw_gpu_cuda.lives(&job->life))
        nw_gpu_cuda.drop(job->dense);
    free(job);
}

/* Describes a run of bytes for a kernel, which copies it in the widest words,
 * of at most WIDEST bytes, that divide its length. */
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

static nw_status set_pieces(const struct nw_pack_kernel *job,
                            const struct nw_typemap *all,
                            struct nw_gpu_piece *pieces)
{
    char *dense = job->dense, *device = job->what.device;
    nw_status status = NW_OK;

    for (size_t i = 0; i < all->count && !status; i++) {
        const struct nw_run *run = &all->run[i];
        bool pack = job->what.out;

        status = set_piece(run, &pieces[i]);
        pieces[i].to = pack ? dense : device + run->offset;
        pieces[i].from = pack ? device + run->offset : dense;
        dense += run->bytes * (size_t)run->n[0] * (size_t)run->n[1];
    }
    return status;
}

static nw_status pack_kernels_make_job(const struct nw_pieces *what,
                                       struct nw_pack_kernel *job)
{
    struct nw_typemap all = {.users = 0};
    struct nw_gpu_piece *pieces = NULL;
    void *dense = what->dense;
    nw_status status = nw_runs_repeat(&all, what->layout, what->count,
                                      (MPI_Aint[]){0, what->layout->extent});

    *job = (struct nw_pack_kernel){
        .layout = what->layout->id, .what = *what, .life = nw_gpu_cuda.life()};
    if (!status)
        status = nw_alloc(all.count, sizeof *pieces, &pieces);
    if (!status && !dense)
        status =
            nw_gpu_cuda.alloc((size_t)what->count * what->layout->size, &dense);
    job->dense = dense;
    if (!status)
        status = set_pieces(job, &all, pieces);
    if (!status)
        status = nw_gpu_copy_job_new(&nw_gpu_cuda,
                                     what->out ? NW_GPU_PACK : NW_GPU_UNPACK,
                                     pieces, all.count, &job->kernel);
    free(all.run);
    free(pieces);
    return status;
}

static bool pack_kernels_fits(const struct nw_pack_kernel *job,
                              const struct nw_pieces *what)
{
    return job->layout == what->layout->id &&
           job->what.device == what->device && job->what.count == what->count &&
           job->what.gpu == what->gpu && job->what.out == what->out &&
           job->what.dense == what->dense && nw_gpu_cuda.lives(&job->life);
}

/* Takes a kernel for these pieces from the list, or makes a new one. */
nw_status nw_pack_kernel_take(const struct nw_pieces *what,
                              struct nw_pack_kernel **out)
{
    struct nw_pack_kernel **at = &jobs, *job;
    nw_status status;

    if (!nw_gpu_cuda.serves(what->device +
                            nw_typemap_low(what->layout, what->count)))
        return nw_fail(NW_EUNSUPPORTED, "memory of another context");
    pthread_mutex_lock(&lock);
    while (*at && !pack_kernels_fits(*at, what))
        at = &(*at)->next;
    job = *at;
    if (job)
        *at = job->next;
    pthread_mutex_unlock(&lock);
    if (!job) {
        status = nw_alloc(1, sizeof *job, &job);
        if (!status)
            status = pack_kernels_make_job(what, job);
        if (status && job)
            free_job(job);
        if (status)
            return status;
    }
    *out = job;
    return NW_OK;
}

nw_status nw_pack_kernel_run(const struct nw_pack_kernel *job)
{
    nw_gpu_stream stream = nw_gpu_cuda.own();
    nw_status status = nw_gpu_copy_job_launch(job->kernel, stream);

    return status ? status : nw_gpu_cuda.stream_wait(stream);
}

static void pack_kernels_keep(struct nw_pack_kernel *job)
{
    struct nw_pack_kernel **at = &jobs, *last = NULL;
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

void nw_pack_kernel_give(struct nw_pack_kernel *job, bool good)
{
    if (good)
        pack_kernels_keep(job);
    else
        free_job(job);
}

nw_status nw_pack_kernel_do(const struct nw_pieces *what, const char *from)
{
    void *before = nw_gpu_cuda.context();
    struct nw_pack_kernel *job = NULL;
    nw_status status = nw_gpu_cuda.select(what->gpu);

    if (!status)
        status = nw_pack_kernel_take(what, &job);
    if (!status && from)
        status = nw_memory_copy_over(what->gpu, job->dense, from,
                                     (size_t)what->count * what->layout->size);
    if (!status)
        status = nw_pack_kernel_run(job);
    if (job)
        nw_pack_kernel_give(job, !status);
    nw_gpu_cuda.restore(before);
    return status;
}

void nw_pack_kernels_close(void)
{
    struct nw_pack_kernel *next;

    for (struct nw_pack_kernel *job = jobs; job; job = next) {
        next = job->next;
        free_job(job);
    }
    jobs = NULL;
}

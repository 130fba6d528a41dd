/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The size from which the direct path is faster than staging. Each sending
 * process measures it when it creates its pool, without the other processes.
 * Staging is a copy to the host, a host message and a copy from the host. The
 * direct path is two copies on the GPU and an envelope. The time of a host
 * message is measured with a message to ourselves, which takes no longer than
 * one to another process.
 */
#include "runtime/messages/direct.h"

#include "base/clock.h"
#include "gpu/gpu.h"
#include "runtime/messages/copy_path.h"

#include <limits.h>
#include <math.h>

enum { LEAST = 8192, SIZES = 7, MOST = LEAST << (SIZES - 1) };
/* In the first round copy_path.c selects its own path. */
enum { WARM = 12, TURNS = 4, ROUNDS = 4, TAG = 2 };
/* The direct path must be this much faster. */
static const double worth = 0.95;

struct bench {
    char *device, *pool; /* each of MOST bytes */
    struct nw_host *host, *other;
    struct nw_pointer owner;
};

static bool by_staging(const struct bench *b, size_t bytes)
{
    struct nw_path_copy haul = {true, b->device, b->host->memory, bytes,
                                &b->owner};

    if (nw_copy_path_move(&haul))
        return false;
    haul.out = false;
    return !nw_copy_path_move(&haul);
}

static bool direct_benchmark_by_mpi(const struct bench *b, size_t bytes)
{
    return !NW_PMPI(Sendrecv)(b->host->memory, (int)bytes, MPI_BYTE, 0, TAG,
                              b->other->memory, (int)bytes, MPI_BYTE, 0, TAG,
                              nw_local_peer_self(), MPI_STATUS_IGNORE);
}

static bool by_gpu(const struct bench *b, size_t bytes)
{
    int32_t gpu = b->owner.gpu;

    return !nw_memory_copy_over(gpu, b->pool, b->device, bytes) &&
           !nw_memory_copy_over(gpu, b->device, b->pool, bytes);
}

enum { STAGING, MPIS, GPUS, WAYS };
static bool (*const ways[WAYS])(const struct bench *b, size_t bytes) = {
    by_staging, direct_benchmark_by_mpi, by_gpu};

/* The paths alternate, and each round covers all sizes, so that a busy moment
 * affects all. False on failure. */
static bool direct_benchmark_measure(const struct bench *b, size_t bytes,
                                     int turns, double least[WAYS])
{
    for (int i = 0; i < turns; i++)
        for (int k = 0; k < WAYS; k++) {
            uint64_t start = nw_clock_ns();
            double us;

            if (!ways[k](b, bytes))
                return false;
            us = (double)(nw_clock_ns() - start) * 1e-3;
            if (us < least[k])
                least[k] = us;
        }
    return true;
}

static bool measure_all(const struct bench *b, double least[SIZES + 1][WAYS])
{
    bool good = true;

    for (int i = 0; i <= SIZES; i++)
        for (int k = 0; k < WAYS; k++)
            least[i][k] = HUGE_VAL;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i <= SIZES && good; i++)
            good = direct_benchmark_measure(
                b, i < SIZES ? (size_t)LEAST << i : NW_ENVELOPE,
                round ? TURNS : WARM, least[i]);
    return good;
}

/* The smallest size from which all sizes gain enough. */
static uint64_t direct_benchmark_find(const struct bench *b, uint64_t standard)
{
    double us[SIZES + 1][WAYS];
    int i = SIZES - 1;

    if (!measure_all(b, us))
        return standard;
    while (i >= 0 && us[i][GPUS] + us[SIZES][MPIS] <
                         worth * (us[i][STAGING] + us[i][MPIS]))
        i--;
    return i < SIZES - 1 ? (uint64_t)LEAST << (i + 1) : INT_MAX;
}

static uint64_t find_on_gpu(char *pool, uint64_t standard)
{
    struct bench b = {.pool = pool};
    uint64_t from = standard;
    void *device = NULL;

    if (nw_gpu_cuda.alloc(MOST, &device))
        return standard;
    b.device = device;
    if (!nw_pinned_cache_take(MOST, &b.host) &&
        !nw_pinned_cache_take(MOST, &b.other) &&
        nw_pointer_find(b.device, &b.owner))
        from = direct_benchmark_find(&b, standard);
    nw_pinned_cache_give(b.host);
    nw_pinned_cache_give(b.other);
    nw_gpu_cuda.free(device);
    return from;
}

uint64_t nw_direct_threshold(int32_t gpu, char *pool, size_t bytes,
                             uint64_t standard)
{
    void *before = nw_gpu_cuda.context();
    uint64_t from = standard;

    if (bytes >= MOST && !nw_gpu_cuda.select(gpu))
        from = find_on_gpu(pool, standard);
    nw_gpu_cuda.restore(before);
    return from;
}

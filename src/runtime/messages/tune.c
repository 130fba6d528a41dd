/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measurements in MPI_Init for `nodewise channel tune`, by the ranks of a job.
 * Measured are the size from which messages between the GPU memories of two
 * processes use the direct path, and the faster form of each collective call
 * (algorithm_cache.c).
 */
#include "runtime/messages/direct.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/status.h"
#include "channel/memory/memory.h"
#include "channel/tune/thresholds.h"
#include "gpu/gpu.h"
#include "runtime/rank0_environment.h"
#include "runtime/messages/passthrough.h"
#include "runtime/messages/algorithms.h"
#include "runtime/messages/library.h"
#include "runtime/warn.h"

#include <nodewise/channel.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEAST = 8192, SIZES = 7, MOST = LEAST << (SIZES - 1), TAG = 3 };
/* In the first round copy_path.c selects its own path. */
enum { MAPPING = 4, WARM = 16, TURNS = 8, ROUNDS = 6, WAYS = 2 };
/* Time limit for one path, size and round, based on its shortest time. At least
 * one turn is made. */
static const double budget_us = 20000;
/* The direct path must be this much faster. */
static const double worth = 0.95;

struct pair {
    MPI_Comm comm;
    int rank, peer;
    void *memory; /* MOST bytes of GPU memory */
};

static bool messages_tune_pass(const struct pair *p, bool send, int bytes)
{
    return !(send ? MPI_Send(p->memory, bytes, MPI_BYTE, p->peer, TAG, p->comm)
                  : MPI_Recv(p->memory, bytes, MPI_BYTE, p->peer, TAG, p->comm,
                             MPI_STATUS_IGNORE));
}

/* Rank 0 decides for both ranks. */
static bool goes_on(const struct pair *p, int more)
{
    if (p->rank)
        return !NW_PMPI(Recv)(&more, 1, MPI_INT, p->peer, TAG, p->comm,
                              MPI_STATUS_IGNORE) &&
               more;
    return !NW_PMPI(Send)(&more, 1, MPI_INT, p->peer, TAG, p->comm) && more;
}

static bool messages_tune_time_way(const struct pair *p, int bytes, int turns,
                                   double *least)
{
    int i = 0;

    do {
        uint64_t start = nw_clock_ns();

        if (!messages_tune_pass(p, !p->rank, bytes) ||
            !messages_tune_pass(p, p->rank, bytes))
            return false;
        *least = fmin(*least, (double)(nw_clock_ns() - start) * 0.5e-3);
    } while (goes_on(p, ++i < turns && 2 * i * *least < budget_us));
    return true;
}

/* Sends messages until both pools are mapped. The first ones are staged. */
static bool map_pools(const struct pair *p)
{
    double none = 0;

    nw_direct_set(LEAST);
    return messages_tune_time_way(p, LEAST, MAPPING, &none);
}

/* The paths alternate, and each round covers all sizes, so that a busy moment
 * affects all. */
static bool time_all(const struct pair *p, double least[SIZES][WAYS])
{
    bool good = map_pools(p);

    for (int i = 0; i < SIZES; i++)
        least[i][0] = least[i][1] = HUGE_VAL;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < SIZES * WAYS && good; i++) {
            nw_direct_set(i % WAYS ? LEAST : INT_MAX);
            good = messages_tune_time_way(p, LEAST << i / WAYS,
                                          round ? TURNS : WARM,
                                          &least[i / WAYS][i % WAYS]);
        }
    return good;
}

/* The smallest size from which all sizes gain enough. */
static uint64_t messages_tune_find(double us[SIZES][WAYS])
{
    int i = SIZES;

    while (i && us[i - 1][1] < worth * us[i - 1][0])
        i--;
    return i < SIZES ? (uint64_t)LEAST << i : INT_MAX;
}

/* -- the job -- */

static bool both_say(const struct pair *p, bool mine)
{
    int in = mine, out = 0;

    return !NW_PMPI(Sendrecv)(&in, 1, MPI_INT, p->peer, TAG, &out, 1, MPI_INT,
                              p->peer, TAG, p->comm, MPI_STATUS_IGNORE) &&
           in && out;
}

/* Measures between the first two ranks of this node. 0 if the measurement
 * failed. */
static uint64_t messages_tune_measure(struct pair *p)
{
    double us[SIZES][WAYS];
    bool ready = !nw_messages_open_gpu() &&
                 !nw_channel_memory_new(true, MOST, &p->memory) &&
                 nw_passthrough_sees(p->memory);
    uint64_t from = 0;

    if (both_say(p, ready) && time_all(p, us))
        from = messages_tune_find(us);
    if (p->memory)
        nw_channel_memory_free(true, p->memory);
    return from;
}

static uint64_t measure_pair(void)
{
    struct pair p = {.comm = MPI_COMM_NULL};
    uint64_t from = 0;
    void *before;

    if (!nw_direct || nw_local_peer_count() < 2 ||
        NW_PMPI(Comm_dup)(nw_local_peer_comm(), &p.comm))
        return 0;
    NW_PMPI(Comm_set_errhandler)(p.comm, MPI_ERRORS_RETURN);
    p.rank = nw_local_peer_mine();
    p.peer = !p.rank;
    before = nw_messages_open_gpu() ? NULL : nw_gpu_cuda.context();
    if (!before && nw_memory_gpus() > 1) // one GPU per rank
        (void)nw_gpu_cuda.select(p.rank % nw_memory_gpus());
    if (p.rank < 2)
        from = messages_tune_measure(&p);
    if (!nw_messages_open_gpu())
        nw_gpu_cuda.restore(before);
    NW_PMPI(Comm_free)(&p.comm);
    return from;
}

static nw_status messages_tune_put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    nw_status status;

    if (fd < 0)
        return nw_fail(NW_EIO, "%s: %s", path, strerror(errno));
    status = nw_file_put(fd, path, text, strlen(text));
    (void)close(fd);
    return status;
}

static void messages_tune_tell(const char *path, uint64_t from)
{
    char provider[NW_MPI_NAME], *table = NULL;
    nw_status status;

    nw_mpi_name(provider);
    status = nw_mpi_rows_write(provider, from, &table);
    if (!status)
        status = messages_tune_put(path, table);
    if (status)
        nw_warn_once("%s", nw_error_text());
    free(table);
}

void nw_messages_tune(void)
{
    const char *path = nw_rank0_environment_variable("NODEWISE_GPU_TUNE");
    uint64_t from;
    int rank;

    if (!path)
        return;
    NW_PMPI(Comm_rank)(MPI_COMM_WORLD, &rank);
    from = measure_pair();
    nw_direct_set(from);
    if (from && !rank)
        messages_tune_tell(path, from);
    nw_algorithms_tune();
}

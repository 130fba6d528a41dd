/* SPDX-License-Identifier: BSD-3-Clause */
/* Times both forms of a collective call, in a call that all ranks make. The
 * buffers are our own, with the size and kind of the program's. */
#include "runtime/messages/algorithms.h"

#include "base/clock.h"
#include "base/selector.h"
#include "base/status.h"
#include "gpu/gpu.h"
#include "runtime/messages/passthrough.h"

#include <limits.h>

/* The first two copies of new memory use the driver. At the first call of a
 * size, copy_path.c needs more calls to select its path. */
enum { CLASSES = 17, WARM = 3, WARM_FIRST = 12, TURNS = 6, TURNS_LARGE = 4 };
static bool warm[CLASSES]; /* up to 64 KiB */
/* The channel must be this much faster. */
static const double worth = 0.9;
static const double failed_s = 1e9;

struct trial {
    struct nw_algorithm_comm *record;
    enum nw_collective_call form;
    size_t bytes, from_bytes, into_bytes;
    bool gpu; /* true if the buffers are in GPU memory */
    void *from, *into;
    char *spare[2]; /* on the host */
    int warming;    /* calls before the timed ones */
};

static void mpi_call(const struct trial *t, const void *from, void *into)
{
    MPI_Comm comm = t->record->comm;
    int n = (int)t->bytes;

    if (t->form == NW_CALL_BCAST)
        NW_PMPI(Bcast)(into, n, MPI_BYTE, 0, comm);
    else if (t->form == NW_CALL_GATHER)
        NW_PMPI(Gather)(from, n, MPI_BYTE, into, n, MPI_BYTE, 0, comm);
    else if (t->form == NW_CALL_ALLGATHER)
        NW_PMPI(Allgather)(from, n, MPI_BYTE, into, n, MPI_BYTE, comm);
    else if (t->form == NW_CALL_ALLTOALL)
        NW_PMPI(Alltoall)(from, n, MPI_BYTE, into, n, MPI_BYTE, comm);
    else if (t->form == NW_CALL_REDUCE)
        NW_PMPI(Reduce)(from, into, n, MPI_BYTE, MPI_BOR, 0, comm);
    else
        NW_PMPI(Allreduce)(from, into, n, MPI_BYTE, MPI_BOR, comm);
}

static void *algorithm_benchmark_stage(struct nw_stage *stage, int way,
                                       void *memory, size_t bytes)
{
    int64_t count = (int64_t)bytes;
    MPI_Datatype type = MPI_BYTE;

    return nw_stage_triple(stage, way, memory,
                           (struct nw_triple){&count, INT_MAX, &type, 1});
}

static nw_status stage_end(struct nw_stage *stage)
{
    nw_status status = stage->status;

    for (int i = 0; i < stage->count && !status; i++)
        if (stage->buffer[i]->way & NW_WRITE)
            status = nw_buffer_empty(stage->buffer[i], UINT64_MAX);
    nw_stage_drop(stage);
    return status;
}

/* The call through the host, as for the program. If this rank cannot stage its
 * memory, it makes the call with spare memory, since the other ranks wait. */
static nw_status algorithm_benchmark_by_host(struct trial *t)
{
    bool reads = t->form == NW_CALL_BCAST && !t->record->rank;
    struct nw_stage both = {.call = "MPI_Init", .whole = true};
    void *from = t->from, *into = t->into;

    if (t->gpu) {
        into = algorithm_benchmark_stage(&both, reads ? NW_READ : NW_WRITE,
                                         into, t->into_bytes);
        from = algorithm_benchmark_stage(&both, NW_READ, from, t->from_bytes);
    }
    mpi_call(t, both.status ? t->spare[0] : from,
             both.status ? t->spare[1] : into);
    return stage_end(&both);
}

/* The call by an MPI that takes GPU memory itself. */
static nw_status algorithm_benchmark_by_mpi(struct trial *t)
{
    mpi_call(t, t->from, t->into);
    return NW_OK;
}

static nw_status by_channel(struct trial *t)
{
    struct nw_channel_collective collect = {.from = t->from,
                                            .into = t->into,
                                            .bytes = t->bytes,
                                            .count = (int64_t)t->bytes,
                                            .type = MPI_BYTE,
                                            .op = MPI_BOR};

    nw_algorithm_comm_next(t->record, &collect);
    return nw_channel_collective(t->form, &collect);
}

/* The shortest time of several calls, on the slowest rank. */
static double time_form(struct trial *t, nw_status (*form)(struct trial *))
{
    int turns = t->bytes >> (CLASSES - 1) ? TURNS_LARGE : TURNS;
    double least = failed_s, slowest = failed_s;
    bool failed = false;

    for (int i = -t->warming; i < turns; i++) {
        uint64_t start;
        double seconds;

        NW_PMPI(Barrier)(t->record->comm);
        start = nw_clock_ns();
        failed |= form(t) != NW_OK; /* go on: the others wait for this rank */
        seconds = (double)(nw_clock_ns() - start) * 1e-9;
        least = i >= 0 && seconds < least ? seconds : least;
    }
    least = failed ? failed_s : least;
    NW_PMPI(Allreduce)
    (&least, &slowest, 1, MPI_DOUBLE, MPI_MAX, t->record->comm);
    return slowest;
}

static void *algorithm_benchmark_take_memory(bool gpu, size_t bytes)
{
    void *memory = NULL;

    return bytes && !nw_channel_memory_new(gpu, bytes, &memory) ? memory : NULL;
}

static void size_trial(struct trial *t)
{
    size_t all = t->bytes * (size_t)t->record->size;
    bool root = !t->record->rank;

    switch (t->form) {
    case NW_CALL_BCAST:
        t->into_bytes = t->bytes;
        return;
    case NW_CALL_GATHER:
        t->from_bytes = t->bytes;
        t->into_bytes = root ? all : 0;
        return;
    case NW_CALL_REDUCE:
        t->from_bytes = t->bytes;
        t->into_bytes = root ? t->bytes : 0;
        return;
    default:
        t->from_bytes = t->form == NW_CALL_ALLTOALL ? all : t->bytes;
        t->into_bytes = t->form == NW_CALL_ALLREDUCE ? t->bytes : all;
    }
}

/* Allocates buffers like the program's: on the GPU if the program uses it. */
static bool trial_open(struct trial *t)
{
    void *before = t->gpu ? nw_gpu_cuda.context() : NULL;

    size_trial(t);
    t->from = algorithm_benchmark_take_memory(t->gpu, t->from_bytes);
    t->into = algorithm_benchmark_take_memory(t->gpu, t->into_bytes);
    if (t->gpu)
        nw_gpu_cuda.restore(before);
    t->spare[0] = algorithm_benchmark_take_memory(false, t->from_bytes);
    t->spare[1] = algorithm_benchmark_take_memory(false, t->into_bytes);
    return (!t->from_bytes || (t->from && t->spare[0])) &&
           (!t->into_bytes || (t->into && t->spare[1]));
}

static void trial_close(struct trial *t)
{
    nw_channel_memory_free(false, t->spare[0]);
    nw_channel_memory_free(false, t->spare[1]);
    nw_channel_memory_free(t->gpu, t->from);
    nw_channel_memory_free(t->gpu, t->into);
}

/* The largest number of warm-up calls that any rank needs. */
static int find_warming(struct nw_algorithm_comm *record, size_t bytes)
{
    int class = nw_selector_class(bytes, CLASSES);
    bool new = !(bytes >> (CLASSES - 1)) && !warm[class];

    warm[class] = true;
    return nw_algorithm_comm_any(record, new) ? WARM_FIRST : WARM;
}

/* Returns the same result on all ranks. */
int nw_algorithm_benchmark(struct nw_algorithm_comm *record,
                           enum nw_collective_call form, size_t bytes)
{
    struct trial t = {.record = record,
                      .form = form,
                      .bytes = bytes,
                      .gpu = nw_is_messaging() && !nw_messages_open_gpu()};
    bool ready = trial_open(&t);
    int wins = -1;

    if (!nw_algorithm_comm_any(record, !ready)) {
        double other, ours;

        t.warming = find_warming(record, bytes);
        other = time_form(&t, nw_passthrough ? algorithm_benchmark_by_mpi
                                             : algorithm_benchmark_by_host);
        ours = time_form(&t, by_channel);

        if (ours < failed_s && other < failed_s)
            wins = ours < worth * other;
    }
    trial_close(&t);
    return wins;
}

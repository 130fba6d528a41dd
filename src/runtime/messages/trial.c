/* SPDX-License-Identifier: BSD-3-Clause */
/* Both forms of a collective call, timed on memory of our own of the same size
 * and kind as the program's, in a call that all ranks make. */
#include "runtime/messages/forms.h"

#include "base/clock.h"
#include "base/status.h"
#include "gpu/gpu.h"
#include "runtime/messages/contest.h"

enum { TURNS = 4 };
/* The channel must be this much faster. */
static const double worth = 0.9;
static const double failed_s = 1e9;

struct trial {
    struct nw_meet *meet;
    enum nw_form form;
    size_t bytes, from_bytes, into_bytes;
    void *from, *into; /* of a GPU where the program uses one */
    char *host[2];     /* that stands for them */
};

static void mpi_call(const struct trial *t, const void *from, void *into)
{
    MPI_Comm comm = nw_meet_comm(t->meet);
    int n = (int)t->bytes;

    if (t->form == NW_FORM_BCAST)
        NW_PMPI(Bcast)(into, n, MPI_BYTE, 0, comm);
    else if (t->form == NW_FORM_GATHER)
        NW_PMPI(Gather)(from, n, MPI_BYTE, into, n, MPI_BYTE, 0, comm);
    else if (t->form == NW_FORM_ALLGATHER)
        NW_PMPI(Allgather)(from, n, MPI_BYTE, into, n, MPI_BYTE, comm);
    else if (t->form == NW_FORM_ALLTOALL)
        NW_PMPI(Alltoall)(from, n, MPI_BYTE, into, n, MPI_BYTE, comm);
    else if (t->form == NW_FORM_REDUCE)
        NW_PMPI(Reduce)(from, into, n, MPI_BYTE, MPI_BOR, 0, comm);
    else
        NW_PMPI(Allreduce)(from, into, n, MPI_BYTE, MPI_BOR, comm);
}

static nw_status by_host(struct trial *t)
{
    nw_status status = t->from_bytes
                           ? nw_buffer_copy(t->host[0], t->from, t->from_bytes)
                           : NW_OK;

    if (!status && t->form == NW_FORM_BCAST && !nw_meet_rank(t->meet))
        status = nw_buffer_copy(t->host[1], t->into, t->into_bytes);
    mpi_call(t, t->host[0], t->host[1]);
    if (!status && t->into_bytes &&
        (t->form != NW_FORM_BCAST || nw_meet_rank(t->meet)))
        status = nw_buffer_copy(t->into, t->host[1], t->into_bytes);
    return status;
}

/* Where MPI takes GPU memory itself. */
static nw_status by_mpi(struct trial *t)
{
    mpi_call(t, t->from, t->into);
    return NW_OK;
}

static nw_status by_channel(struct trial *t)
{
    struct nw_collect collect = {.from = t->from,
                                 .into = t->into,
                                 .bytes = t->bytes,
                                 .count = (int64_t)t->bytes,
                                 .type = MPI_BYTE,
                                 .op = MPI_BOR};

    nw_meet_next(t->meet, &collect);
    return nw_collect(t->form, &collect);
}

/* The least of some turns, the slowest rank's. */
static double time_form(struct trial *t, nw_status (*form)(struct trial *))
{
    double least = failed_s, slowest = failed_s;
    bool failed = false;

    for (int i = 0; i < TURNS; i++) {
        uint64_t start;
        double seconds;

        NW_PMPI(Barrier)(nw_meet_comm(t->meet));
        start = nw_clock_ns();
        failed |= form(t) != NW_OK; /* the others wait for this rank, too */
        seconds = (double)(nw_clock_ns() - start) * 1e-9;
        least = seconds < least ? seconds : least;
    }
    least = failed ? failed_s : least;
    NW_PMPI(Allreduce)
    (&least, &slowest, 1, MPI_DOUBLE, MPI_MAX, nw_meet_comm(t->meet));
    return slowest;
}

static void *take_memory(bool gpu, size_t bytes)
{
    void *memory = NULL;

    return bytes && !nw_channel_memory_new(gpu, bytes, &memory) ? memory : NULL;
}

static void size_trial(struct trial *t)
{
    size_t all = t->bytes * (size_t)nw_meet_size(t->meet);
    bool root = !nw_meet_rank(t->meet);

    switch (t->form) {
    case NW_FORM_BCAST:
        t->into_bytes = t->bytes;
        return;
    case NW_FORM_GATHER:
        t->from_bytes = t->bytes;
        t->into_bytes = root ? all : 0;
        return;
    case NW_FORM_REDUCE:
        t->from_bytes = t->bytes;
        t->into_bytes = root ? t->bytes : 0;
        return;
    default:
        t->from_bytes = t->form == NW_FORM_ALLTOALL ? all : t->bytes;
        t->into_bytes = t->form == NW_FORM_ALLREDUCE ? t->bytes : all;
    }
}

/* Like the program's own: a GPU's where it uses one. */
static bool trial_open(struct trial *t, bool gpu)
{
    void *before = gpu ? nw_gpu_cuda.context() : NULL;

    size_trial(t);
    t->from = take_memory(gpu, t->from_bytes);
    t->into = take_memory(gpu, t->into_bytes);
    if (gpu)
        nw_gpu_cuda.restore(before);
    t->host[0] = take_memory(false, t->from_bytes);
    t->host[1] = take_memory(false, t->into_bytes);
    return (!t->from_bytes || (t->from && t->host[0])) &&
           (!t->into_bytes || (t->into && t->host[1]));
}

static void trial_close(struct trial *t, bool gpu)
{
    nw_channel_memory_free(false, t->host[0]);
    nw_channel_memory_free(false, t->host[1]);
    nw_channel_memory_free(gpu, t->from);
    nw_channel_memory_free(gpu, t->into);
}

/* The same answer everywhere. */
int nw_trial(struct nw_meet *meet, enum nw_form form, size_t bytes)
{
    bool gpu = nw_is_messaging() && !nw_messages_open_gpu();
    struct trial t = {.meet = meet, .form = form, .bytes = bytes};
    bool ready = trial_open(&t, gpu);
    int wins = -1;

    if (!nw_meet_any(meet, !ready)) {
        double other = time_form(&t, nw_contest ? by_mpi : by_host);

        double ours = time_form(&t, by_channel);

        if (ours < failed_s && other < failed_s)
            wins = ours < worth * other;
    }
    trial_close(&t, gpu);
    return wins;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that yield the core while they wait. If ranks share cores, an MPI
 * library that spins in a collective may occupy the core that the missing rank
 * needs, for a time slice of milliseconds. Planning consists of many small
 * collectives. */
#include "halo/exchange/yielding_collectives.h"

#include "base/backoff.h"
#include "base/clock.h"
#include "base/cpus.h"

#include <string.h>

#define SOON_NS ((uint64_t)100000000) /* 0.1 s */

int nw_halo_waitall(int count, MPI_Request *request)
{
    struct nw_backoff backoff = {0};
    int code = MPI_SUCCESS, done = 0;

    while (code == MPI_SUCCESS && !done) {
        code = NW_PMPI(Testall)(count, request, &done, MPI_STATUSES_IGNORE);
        if (!done)
            nw_backoff_yield(&backoff);
    }
    return code;
}

static bool yielding_is_over(MPI_Request *request)
{
    int flag = 0;

    return *request == MPI_REQUEST_NULL ||
           (NW_PMPI(Test)(request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
            flag);
}

/* Waits for a message, at most SOON_NS, and returns true if it is complete. A
 * message that has begun to arrive cannot be cancelled, but it completes soon
 * if the sender still runs. */
static bool ends_soon(MPI_Request *request)
{
    uint64_t until = nw_clock_ns() + SOON_NS;
    struct nw_backoff backoff = {0};
    bool over = yielding_is_over(request);

    while (!over && nw_clock_ns() < until) {
        nw_backoff_yield(&backoff);
        over = yielding_is_over(request);
    }
    return over;
}

bool nw_halo_give_up(struct nw_halo_connection *connection, int count,
                     MPI_Request *request, bool receives)
{
    bool all = true;

    for (int i = 0; i < count; i++) {
        if (yielding_is_over(&request[i]))
            continue;
        if (receives)
            NW_PMPI(Cancel)(&request[i]);
        if (receives && ends_soon(&request[i]))
            continue;
        NW_PMPI(Request_free)(&request[i]);
        all = false;
    }
    if (!all)
        connection->halo->has_pending = true;
    return all;
}

int nw_halo_allreduce(MPI_Comm comm, const void *own, void *out, int count,
                      MPI_Datatype type, MPI_Op op)
{
    MPI_Request request;
    int code = NW_PMPI(Iallreduce)(own, out, count, type, op, comm, &request);

    return code == MPI_SUCCESS ? nw_halo_waitall(1, &request) : code;
}

int nw_halo_is_equal(MPI_Comm comm, uint64_t value, bool *out)
{
    uint64_t own[2] = {value, ~value}, most[2] = {0, 0};
    int code = nw_halo_allreduce(comm, own, most, 2, MPI_UINT64_T, MPI_MAX);

    *out = most[0] == ~most[1];
    return code;
}

int nw_halo_barrier(MPI_Comm comm)
{
    MPI_Request request;
    int code = NW_PMPI(Ibarrier)(comm, &request);

    return code == MPI_SUCCESS ? nw_halo_waitall(1, &request) : code;
}

int nw_halo_find_oversubscribed(MPI_Comm node, bool *out)
{
    unsigned long own[NW_CPU_WORDS], all[NW_CPU_WORDS];
    int ranks, words = 0, own_words = nw_cpus_read(0, own);
    int code = NW_PMPI(Comm_size)(node, &ranks);

    if (!own_words) {
        /* if the affinity is unknown, assume all CPUs */
        memset(own, 0xff, sizeof own);
        own_words = NW_CPU_WORDS;
    }
    if (code == MPI_SUCCESS)
        code = nw_halo_allreduce(node, &own_words, &words, 1, MPI_INT, MPI_MAX);
    if (code == MPI_SUCCESS)
        code = nw_halo_allreduce(node, own, all, words, MPI_UNSIGNED_LONG,
                                 MPI_BOR);
    *out = code == MPI_SUCCESS && nw_cpus_count(all, words) < ranks;
    return code;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* In MPI_Finalize, all ranks exchange their ranks in the NCCL communicators.
 * Each rank then adds its NCCL messages to the counts, with destinations as
 * ranks of MPI_COMM_WORLD. */
#include "runtime/profile/nccl.h"

#include "base/array.h"
#include "runtime/profile/nccl_comm.h"
#include "runtime/profile/record.h"
#include "runtime/warn.h"

#include <nodewise/status.h>
#include <stdlib.h>

/* A rank in an NCCL communicator, and its rank in MPI_COMM_WORLD. */
struct nccl_finish_member {
    uint64_t id;
    int32_t rank, world;
};

static int by_id(const void *a, const void *b)
{
    const struct nccl_finish_member *x = a, *y = b;

    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* `own`: the members on this rank. `all`: those of all ranks. bytes[r]: size of
 * the members of rank r in bytes. first[r]: offset in bytes at which they start
 * in `all`. */
struct nccl_finish_lists {
    struct nccl_finish_member *own, *all;
    int *bytes, *first;
    size_t own_count, total;
};

static nw_status nccl_finish_alloc(MPI_Comm comm,
                                   struct nccl_finish_lists *lists)
{
    const struct nw_nccl_comm *own = nw_nccl_comms(&lists->own_count);
    int size, world;
    nw_status status;

    NW_PMPI(Comm_size)(comm, &size);
    NW_PMPI(Comm_rank)(comm, &world);
    status = NW_ALLOC_ALL(NW_ARRAY(lists->own_count, lists->own),
                          NW_ARRAY(lists->total, lists->all),
                          NW_ARRAY(size, lists->bytes),
                          NW_ARRAY(size, lists->first));
    for (size_t i = 0; !status && i < lists->own_count; i++)
        lists->own[i] =
            (struct nccl_finish_member){own[i].id, own[i].rank, world};
    return status;
}

/* Gathers the members from all ranks on every rank, sorted by id and rank.
 * Collective. */
static void nccl_finish_gather(MPI_Comm comm, struct nccl_finish_lists *lists)
{
    int bytes = (int)(lists->own_count * sizeof *lists->own), size, sum = 0;

    NW_PMPI(Comm_size)(comm, &size);
    NW_PMPI(Allgather)(&bytes, 1, MPI_INT, lists->bytes, 1, MPI_INT, comm);
    for (int r = 0; r < size; r++) {
        lists->first[r] = sum;
        sum += lists->bytes[r];
    }
    NW_PMPI(Allgatherv)
    (lists->own, bytes, MPI_BYTE, lists->all, lists->bytes, lists->first,
     MPI_BYTE, comm);
    qsort(lists->all, lists->total, sizeof *lists->all, by_id);
}

/* Counts several messages, of which only the total bytes are known, as messages
 * of equal size. If the total is not divisible, some are one byte larger. */
static void nccl_finish_count(struct nw_count_key key,
                              const struct nw_nccl_traffic *it)
{
    uint64_t each = it->bytes / it->messages, rest = it->bytes % it->messages;

    if (it->messages > rest)
        nw_count_add(key, each, it->messages - rest);
    if (rest)
        nw_count_add(key, each + 1, rest);
}

static void nccl_finish_translate(const struct nw_nccl_comm *comm,
                                  const struct nccl_finish_member *all,
                                  size_t total)
{
    for (size_t i = 0; i < comm->count; i++) {
        const struct nw_nccl_traffic *it = &comm->traffic[i];
        struct nccl_finish_member wanted = {comm->id, it->peer, 0};
        const struct nccl_finish_member *found =
            bsearch(&wanted, all, total, sizeof *all, by_id);
        struct nw_count_key key = {.tag = NW_PART_NO_TAG,
                                   .class = NW_PART_GG,
                                   .origin = NW_ORIGIN_NCCL + 1};

        if (!found) {
            nw_count_add_outside(it->bytes, it->messages);
            continue;
        }
        key.peer = found->world;
        nccl_finish_count(key, it);
    }
}

void nw_nccl_finish(MPI_Comm comm)
{
    struct nccl_finish_lists lists = {0};
    size_t n;
    const struct nw_nccl_comm *own = nw_nccl_comms(&n);
    int count = (int)n, total = 0;
    bool good;

    if (NW_PMPI(Allreduce)(&count, &total, 1, MPI_INT, MPI_SUM, comm) || !total)
        return;
    lists.total = (size_t)total;
    good = !nccl_finish_alloc(comm, &lists);
    if (!good)
        nw_warn_once("NCCL's messages are not counted: %s", nw_error_text());
    if (nw_all_ranks(comm, good)) {
        nccl_finish_gather(comm, &lists);
        for (size_t i = 0; i < n; i++)
            nccl_finish_translate(&own[i], lists.all, lists.total);
    }
    free(lists.own);
    free(lists.all);
    free(lists.bytes);
    free(lists.first);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* In MPI_Finalize, all ranks exchange their ranks in the NCCL communicators.
 * Each rank then adds its NCCL messages to the counts, with destinations as
 * ranks of MPI_COMM_WORLD. */
#include "runtime/profile/nccl.h"

#include "base/array.h"
#include "runtime/profile/nccl_comm.h"
#include "runtime/profile/record.h"

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

static struct nccl_finish_member *list_own(MPI_Comm comm, int *count)
{
    size_t n;
    const struct nw_nccl_comm *own = nw_nccl_comms(&n);
    struct nccl_finish_member *list = NULL;
    int world;

    *count = 0;
    NW_PMPI(Comm_rank)(comm, &world);
    if (nw_alloc(n + 1, sizeof *list, &list))
        return NULL;
    for (size_t i = 0; i < n; i++)
        list[(*count)++] =
            (struct nccl_finish_member){own[i].id, own[i].rank, world};
    return list;
}

/* Gathers the members from all ranks on every rank, sorted by id and rank. Sets
 * *total to their number. The caller frees the result. NULL if memory is
 * exhausted. Collective. */
static struct nccl_finish_member *list_all(MPI_Comm comm,
                                           struct nccl_finish_member *own,
                                           int count, size_t *total)
{
    int size, bytes = count * (int)sizeof *own, sum = 0, *many, *first;
    struct nccl_finish_member *all = NULL;

    NW_PMPI(Comm_size)(comm, &size);
    many = calloc((size_t)size, sizeof *many);
    first = calloc((size_t)size, sizeof *first);
    if (many && first) {
        NW_PMPI(Allgather)(&bytes, 1, MPI_INT, many, 1, MPI_INT, comm);
        for (int r = 0; r < size; r++) {
            first[r] = sum;
            sum += many[r];
        }
        all = malloc((size_t)sum + 1);
    }
    if (all) {
        NW_PMPI(Allgatherv)
        (own, bytes, MPI_BYTE, all, many, first, MPI_BYTE, comm);
        *total = (size_t)sum / sizeof *all;
        qsort(all, *total, sizeof *all, by_id);
    }
    free(many);
    free(first);
    return all;
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
    size_t n, total = 0;
    const struct nw_nccl_comm *own = nw_nccl_comms(&n);
    struct nccl_finish_member *mine, *all = NULL;
    int count = 0, most = 0, used = n > 0;

    if (NW_PMPI(Allreduce)(&used, &most, 1, MPI_INT, MPI_MAX, comm) || !most)
        return;
    mine = list_own(comm, &count);
    all = list_all(comm, mine, count, &total);
    for (size_t i = 0; all && i < n; i++)
        nccl_finish_translate(&own[i], all, total);
    free(mine);
    free(all);
}

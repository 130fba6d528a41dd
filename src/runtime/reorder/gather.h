/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gathers a list of integers from each rank on rank 0, and sends an answer back
 * to each rank. In a very large job, the leader of each node first gathers the
 * lists of its node, so that rank 0 receives only one message from each node.
 */
#ifndef NW_REORDER_GATHER_H
#define NW_REORDER_GATHER_H

#include "runtime/reorder/reorder.h"

/* One stage: ranks that send their lists to rank 0 of `comm` at the same time.
 */
struct nw_gather_stage {
    MPI_Comm comm; /* MPI_COMM_NULL if this rank is not a member */
    int rank, size;
    int *count, *place; /* at rank 0: length and offset of each list */
    int total;
    int *words; /* at rank 0: [total] the lists of all ranks */
};

struct nw_gather {
    const struct nw_call *call;
    /* 1: all ranks at once; 2: the ranks of each node, then the leaders */
    int stages;
    struct nw_gather_stage stage[2];
    /* for nw_gather_answer, with 2 stages: the pairs of the node's ranks at its
     * leader; at rank 0 also all pairs in the order of nodes, and the number of
     * each node's leader */
    int *ours, *sorted, *leader;
};

/* Gathers `count` ints from each rank. At rank 0, sets *all to the lists of all
 * ranks one after the other, valid until nw_gather_close, and *total to their
 * length. Returns false on all ranks if `good` is false or call->bad is true on
 * a rank, if there are too many ints, or if memory is exhausted. Sets
 * call->refused to true if call->bad is true on some ranks, but not on all. The
 * caller calls nw_gather_close in both cases. Collective. */
bool nw_gather_lists(struct nw_gather *gather, struct nw_call *call, bool good,
                     const int *words, int count, const int **all, int *total);
/* Sends two ints from rank 0 to each rank: rank r gets pairs[2 * r] and pairs[2
 * * r + 1] in `mine`. Collective. Call it only after nw_gather_lists returned
 * true. */
bool nw_gather_answer(const struct nw_gather *gather, const int *pairs,
                      int mine[2]);
void nw_gather_close(struct nw_gather *gather);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gathers the lists of all ranks at rank 0 and sends an answer back to each. In
 * a very large job the leaders of the nodes gather first, so that rank 0
 * receives one message a node.
 */
#ifndef NW_REORDER_GATHER_H
#define NW_REORDER_GATHER_H

#include "runtime/reorder/reorder.h"

/* Ranks whose rank 0 listens to them. */
struct nw_gather_stage {
    MPI_Comm comm; /* MPI_COMM_NULL: this rank has no part in it */
    int rank, size;
    int *count, *place; /* [size] words of each, at its rank 0 */
    int total;
    int *words; /* [total] of all, at its rank 0 */
};

struct nw_gather {
    const struct nw_call *call;
    int stages; /* all at once; or the ranks of each node, then their leaders */
    struct nw_gather_stage stage[2];
};

/* Gathers `count` words of each rank. At rank 0, *all has one list after the
 * other, valid until nw_gather_close, and *total their length. False on all
 * ranks if `good` was false on one, or if the words are too many; call->refused
 * is set. nw_gather_close follows in any case. Collective. */
bool nw_gather_lists(struct nw_gather *gather, struct nw_call *call, bool good,
                     const int *words, int count, const int **all, int *total);
/* Two words of rank 0 for each rank: [2 * size] there, in the order of ranks.
 * Collective, after a good nw_gather_lists. */
bool nw_gather_answer(const struct nw_gather *gather, const int *pairs,
                      int mine[2]);
void nw_gather_close(struct nw_gather *gather);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gathers the lists of all ranks at rank 0 and sends an answer back to each. In
 * a very large job the leaders of the nodes gather first, so that rank 0
 * receives one message a node.
 */
#ifndef NW_REORDER_GATHER_H
#define NW_REORDER_GATHER_H

#include "runtime/reorder/reorder.h"

/* Ranks that send their lists to rank 0 of `comm`, at once. */
struct nw_gather_stage {
    MPI_Comm comm; /* MPI_COMM_NULL if this rank is not a member */
    int rank, size;
    int *count, *place; /* at rank 0: words of each rank, and their offsets */
    int total;
    int *words; /* [total] at rank 0: the lists of all ranks */
};

struct nw_gather {
    const struct nw_call *call;
    /* 1: all ranks at once; 2: the ranks of each node, then their leaders */
    int stages;
    struct nw_gather_stage stage[2];
};

/* Gathers `count` ints of each rank. At rank 0, *all is set to the lists of all
 * ranks one after the other, valid until nw_gather_close, and *total to their
 * length. Returns false on all ranks, and sets call->refused, if `good` was
 * false on a rank or if there are too many words. The caller calls
 * nw_gather_close even after false. Collective. */
bool nw_gather_lists(struct nw_gather *gather, struct nw_call *call, bool good,
                     const int *words, int count, const int **all, int *total);
/* Sends two ints from rank 0 to each rank: pairs[2 * r] and the next to rank r,
 * which gets them in `mine`. Collective, after an nw_gather_lists that returned
 * true. */
bool nw_gather_answer(const struct nw_gather *gather, const int *pairs,
                      int mine[2]);
void nw_gather_close(struct nw_gather *gather);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the algorithm that a collective call is assumed to use. The model of
 * this algorithm attributes the call's bytes to pairs of ranks. */
#ifndef NW_PROFILE_CHOICE_H
#define NW_PROFILE_CHOICE_H

#include "runtime/profile/collective_messages.h"

/* X(constant, name in NODEWISE_COLLECTIVES) */
#define NW_COLLECTIVE_LIST(X)                                                  \
    X(BARRIER, "barrier")                                                      \
    X(BCAST, "bcast")                                                          \
    X(REDUCE, "reduce")                                                        \
    X(ALLREDUCE, "allreduce")                                                  \
    X(GATHER, "gather")                                                        \
    X(SCATTER, "scatter")                                                      \
    X(ALLGATHER, "allgather")                                                  \
    X(ALLTOALL, "alltoall")                                                    \
    X(REDUCE_SCATTER, "reduce_scatter")                                        \
    X(SCAN, "scan")

enum nw_collective {
#define NW_COLLECTIVE_ENUM(name, text) NW_COLLECTIVE_##name,
    NW_COLLECTIVE_LIST(NW_COLLECTIVE_ENUM)
#undef NW_COLLECTIVE_ENUM
        NW_COLLECTIVE_COUNT
};

/* Sets the algorithms from a text such as "allreduce:ring,bcast:binomial" or
 * "off"; NULL sets the defaults. If words are invalid, *bad points to the last
 * of these in `text`, and the other words are read; otherwise *bad is NULL. */
void nw_choice_set(const char *text, const char **bad);
/* Returns false if nw_choice_set read "off". */
bool nw_choice_is_on(void);
/* Returns the algorithm for a call among `size` ranks. `bytes` is the size that
 * decides: that of the whole vector for bcast, reduce, allreduce,
 * reduce_scatter and scan; of all blocks together for allgather; of one block
 * for gather, scatter and alltoall. It is ignored for a barrier. */
enum nw_collective_algorithm nw_choice(enum nw_collective collective, int size,
                                       uint64_t bytes);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Which algorithm a collective call is attributed by. */
#ifndef NW_PROFILE_CHOICE_H
#define NW_PROFILE_CHOICE_H

#include "runtime/profile/model.h"

/* name in NODEWISE_COLLECTIVES, and the algorithms it may have */
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

/* Reads "allreduce:ring,bcast:binomial" or "off"; NULL is the default. An
 * invalid word is returned in *bad (borrowed from text), and the rest is read.
 */
void nw_choice_set(const char *text, const char **bad);
/* False after "off". */
bool nw_choice_is_on(void);
/* The algorithm for a call among `size` ranks; `bytes` is what the thresholds
 * go by: the vector of bcast, reduce, allreduce, reduce_scatter and scan, all
 * blocks together of allgather, one block of the others. */
enum nw_collective_algorithm nw_choice(enum nw_collective collective, int size,
                                       uint64_t bytes);

#endif

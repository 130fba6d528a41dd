/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulated annealing by swaps that lowers the hop-bytes of an assignment. Each
 * round divides the subtrees below the root into groups at random, and anneals
 * each group alone. No swap inside a subtree changes a distance to a process
 * outside, so groups run on any number of threads with the same result.
 */
#ifndef NW_MAP_HIERARCHY_ANNEAL_SWAPS_H
#define NW_MAP_HIERARCHY_ANNEAL_SWAPS_H

#include "map/common/budget.h"
#include "map/hierarchy/assignment.h"

/* The input, the settings and the result of nw_anneal_swaps. */
struct nw_anneal_swaps {
    struct nw_assignment *assignment;
    struct nw_budget *budget;
    uint64_t seed;
    uint64_t steps; /* number of trials in all rounds together */
    int32_t rounds;
    double temperature; /* of the first round, in units of the mean edge times
                           the second smallest distance */
    bool sparing;       /* try vertices of high degree less often */
    double cost;        /* cost of the assignment, in and out */
};

/* Anneals; the assignment becomes the best one seen, which is never worse than
 * before. */
NW_MUST_CHECK nw_status nw_anneal_swaps(struct nw_anneal_swaps *anneal_swaps);

#endif

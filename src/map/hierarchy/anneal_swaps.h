/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulated annealing of swaps that lowers the hop-bytes of an assignment. In
 * each round the subtrees below the root are divided into groups at random, and
 * each group is annealed alone. No swap inside a subtree changes a distance to
 * the outside, so groups run on any number of threads with the same answer.
 */
#ifndef NW_MAP_HIERARCHY_ANNEAL_SWAPS_H
#define NW_MAP_HIERARCHY_ANNEAL_SWAPS_H

#include "map/common/budget.h"
#include "map/hierarchy/assignment.h"

struct nw_anneal_swaps {
    struct nw_assignment *assignment;
    struct nw_budget *budget;
    uint64_t seed;
    uint64_t steps; /* trials of all rounds together */
    int32_t rounds;
    double temperature; /* of the first round, in units of the mean edge times
                           the second smallest distance */
    bool sparing;       /* try vertices of high degree less often */
    double cost;        /* cost of the assignment, in and out */
};

/* The assignment becomes the best one seen, never worse. */
NW_MUST_CHECK nw_status nw_anneal_swaps(struct nw_anneal_swaps *anneal_swaps);

#endif

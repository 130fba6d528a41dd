/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Swaps that lower the hop-bytes of a layout: simulated annealing in rounds.
 * In each round the subtrees below the root are dealt into groups, and each
 * group is annealed by itself: on a tree no swap inside a group changes a
 * distance to the outside, so groups run on any number of threads and the
 * answer is the same.
 */
#ifndef NW_MAP_HIERARCHY_ANNEAL_SWAPS_H
#define NW_MAP_HIERARCHY_ANNEAL_SWAPS_H

#include "map/common/budget.h"
#include "map/hierarchy/assignment.h"

struct nw_anneal_swaps {
    struct nw_assignment *assignment;
    struct nw_budget *budget;
    uint64_t seed;
    uint64_t steps; /* tried swaps, all rounds together */
    int32_t rounds;
    double temperature; /* of the first round, in mean bonds over the second
                    smallest distance */
    bool sparing;       /* hubs are tried less */
    double cost;        /* of the layout: in and out */
};

/* The layout becomes the best seen, never worse. */
NW_MUST_CHECK nw_status nw_anneal_swaps(struct nw_anneal_swaps *anneal_swaps);

#endif

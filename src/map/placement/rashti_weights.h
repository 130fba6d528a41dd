/* SPDX-License-Identifier: BSD-3-Clause */
/* The integer loads of Rashti et al., "Multi-core and Network Aware MPI
 * Topology Functions", section 4.2.1: how well two places reach each other. */
#ifndef NW_MAP_PLACEMENT_RASHTI_WEIGHTS_H
#define NW_MAP_PLACEMENT_RASHTI_WEIGHTS_H

#include "map/placement/placement.h"

struct nw_rashti_weights {
    const struct nw_places *places;
    double nearest, farthest; /* hops between different nodes; 0: one node */
    int64_t largest;          /* load of any two */
};

/* O(places^2). */
struct nw_rashti_weights nw_rashti_weights_init(const struct nw_places *places);
/* Between nodes from 1, the farthest, to the largest hop count, the closest;
 * inside a node above that, the more the deeper the common ancestor. a and b
 * differ. */
int64_t nw_rashti_weights_get(const struct nw_rashti_weights *loads, int32_t a,
                              int32_t b);
/* For who takes an edge's number for a length: 1 for the largest load, so many
 * more as the load is less. */
int64_t nw_rashti_weights_length(const struct nw_rashti_weights *loads,
                                 int32_t a, int32_t b);

#endif

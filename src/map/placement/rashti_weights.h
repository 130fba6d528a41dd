/* SPDX-License-Identifier: BSD-3-Clause */
/* The integer edge weights of Rashti and others 2011, "Multi-core and Network
 * Aware MPI Topology Functions", section 4.2.1: how well two places reach each
 * other. */
#ifndef NW_MAP_PLACEMENT_RASHTI_WEIGHTS_H
#define NW_MAP_PLACEMENT_RASHTI_WEIGHTS_H

#include "map/placement/placement.h"

/* The distances from which the weights follow. */
struct nw_rashti_weights {
    const struct nw_places *places;
    double nearest, farthest; /* fewest and most hops between different nodes; 0
                                 if there is only one node */
    int64_t largest;          /* weight of the two closest places */
};

/* Measures the distances between places, in O(places^2). */
struct nw_rashti_weights nw_rashti_weights_init(const struct nw_places *places);
/* Returns the weight of two different places a and b. Between nodes it grows
 * from 1 for the farthest to the largest hop count for the closest nodes.
 * Inside a node it is larger and grows with the depth of the common ancestor.
 */
int64_t nw_rashti_weights_get(const struct nw_rashti_weights *loads, int32_t a,
                              int32_t b);
/* Converts the weight of a and b to a length, for callers that need one: 1 for
 * the largest weight, longer for smaller weights. */
int64_t nw_rashti_weights_length(const struct nw_rashti_weights *loads,
                                 int32_t a, int32_t b);

#endif

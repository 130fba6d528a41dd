/* SPDX-License-Identifier: BSD-3-Clause */
/* The integer weights of Rashti and others 2011, "Multi-core and Network Aware
 * MPI Topology Functions", section 4.2.1. The weight of a pair of places says
 * how near they are: the nearer, the larger. */
#ifndef NW_MAP_PLACEMENT_RASHTI_WEIGHTS_H
#define NW_MAP_PLACEMENT_RASHTI_WEIGHTS_H

#include "map/placement/placement.h"

/* The distances of the machine from which the weights are computed. */
struct nw_rashti_weights {
    const struct nw_places *places;
    double nearest, farthest; /* fewest and most links from the NIC of one node
                                 to that of another, or the given distances of a
                                 matrix; 0 if there is only one node */
    int64_t largest;          /* largest weight of any pair of places */
};

/* Finds the shortest and longest distance between nodes and the largest weight
 * of any pair of places; takes O(places^2) time. */
struct nw_rashti_weights nw_rashti_weights_init(const struct nw_places *places);
/* Returns the weight of two different places a and b. On different nodes it is
 * between 1, for the farthest nodes, and `farthest` (rounded up, at most a
 * million), for the closest nodes, also if all are equally far. Inside a node
 * it is larger still and grows with the depth of the lowest common ancestor of
 * both places in the node. */
int64_t nw_rashti_weights_get(const struct nw_rashti_weights *weights,
                              int32_t a, int32_t b);
/* Converts the weight of a and b to a length, for callers that need lengths:
 * the largest weight becomes 1, smaller weights become larger lengths. */
int64_t nw_rashti_weights_length(const struct nw_rashti_weights *weights,
                                 int32_t a, int32_t b);

#endif

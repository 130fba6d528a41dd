/* SPDX-License-Identifier: BSD-3-Clause */
/* Coordinates of ranks in a grid, guessed from differences of rank numbers
 * (strides). If most traffic goes between ranks that differ by d or by d', and
 * d divides d', then (r / d) mod (d' / d) is a coordinate of rank r. A cut
 * between low and high values of a coordinate is a good initial cut. */
#ifndef NW_MAP_PLACEMENT_RANK_STRIDES_H
#define NW_MAP_PLACEMENT_RANK_STRIDES_H

#include "map/placement/placement.h"

/* The coordinates found in a pattern, one for each pair of strides of which one
 * divides the other. */
struct nw_rank_strides {
    int count;   /* number of coordinates found */
    int32_t *at; /* [count x processes] coordinate i of process p is
                    at[i * processes + p] */
};

/* Finds the strides with the most traffic and computes the coordinates that
 * follow from them and the number of processes. The caller frees out->at, also
 * after a failure. */
NW_MUST_CHECK nw_status nw_rank_strides_find(
    const struct nw_placement *placement, struct nw_rank_strides *out);

#endif

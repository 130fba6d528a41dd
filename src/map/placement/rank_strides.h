/* SPDX-License-Identifier: BSD-3-Clause */
/* Coordinates of ranks in a grid, guessed from differences of rank numbers
 * (strides). If most traffic goes between ranks that differ by d or by d', and
 * d divides d', then (r / d) mod (d' / d) is a coordinate of rank r. A cut
 * between low and high values of a coordinate is a good initial cut. */
#ifndef NW_MAP_PLACEMENT_RANK_STRIDES_H
#define NW_MAP_PLACEMENT_RANK_STRIDES_H

#include "map/placement/placement.h"

#define NW_RANK_STRIDES_MAX 6 /* most strides that are considered */

/* The coordinates found in a pattern, one for each pair of strides of which one
 * divides the other; the number of processes counts as a stride, too. */
struct nw_rank_strides {
    int count;
    /* coordinate i of rank r is r / coordinate[i].stride mod
     * coordinate[i].length */
    struct nw_rank_coordinate {
        int32_t stride, length;
    } coordinate[(NW_RANK_STRIDES_MAX + 1) * NW_RANK_STRIDES_MAX / 2];
};

/* Finds the strides with the most traffic and the coordinates that follow from
 * them. */
NW_MUST_CHECK nw_status nw_rank_strides_find(
    const struct nw_placement *placement, struct nw_rank_strides *out);

#endif

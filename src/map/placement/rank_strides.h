/* SPDX-License-Identifier: BSD-3-Clause */
/* Coordinates of ranks in a grid, guessed from rank numbers: if most traffic
 * goes between ranks that differ by d or by d', and d divides d', then (r / d)
 * mod (d' / d) is a coordinate of rank r, and a cut across it is a good initial
 * cut. */
#ifndef NW_MAP_PLACEMENT_RANK_STRIDES_H
#define NW_MAP_PLACEMENT_RANK_STRIDES_H

#include "map/placement/placement.h"

#define NW_RANK_STRIDES_MAX 24

/* The coordinates of a pattern, one for each pair of strides. */
struct nw_rank_strides {
    struct {
        int32_t step, size; /* coordinate of process p: p / step % size */
        int32_t *at;        /* [processes] coordinate of each process */
    } stride[NW_RANK_STRIDES_MAX];
    int count;       /* number of coordinates */
    int32_t *memory; /* the array of all `at` */
};

/* Finds the coordinates of a pattern. */
NW_MUST_CHECK nw_status nw_rank_strides_find(
    const struct nw_placement *placement, struct nw_rank_strides *out);
void nw_rank_strides_fini(struct nw_rank_strides *strides);

#endif

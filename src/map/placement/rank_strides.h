/* SPDX-License-Identifier: BSD-3-Clause */
/* Coordinates guessed from rank numbers: if most traffic goes between ranks d
 * apart and d' apart, and d divides d', then (r / d) mod (d' / d) is a
 * coordinate, and a cut along it is a good first cut. */
#ifndef NW_MAP_PLACEMENT_RANK_STRIDES_H
#define NW_MAP_PLACEMENT_RANK_STRIDES_H

#include "map/placement/placement.h"

#define NW_RANK_STRIDES_MAX 24

struct nw_rank_strides {
    struct {
        int32_t step, size; /* coordinate of process p: p / step % size */
        int32_t *at;        /* [processes] the coordinate */
    } stride[NW_RANK_STRIDES_MAX];
    int count;
    int32_t *memory;
};

NW_MUST_CHECK nw_status nw_rank_strides_find(
    const struct nw_placement *placement, struct nw_rank_strides *out);
void nw_rank_strides_fini(struct nw_rank_strides *strides);

#endif

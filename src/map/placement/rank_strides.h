/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids seen through the numbers of their ranks: where most traffic goes
 * between ranks d apart and d' apart and d divides d', (r / d) mod (d' / d) is
 * a coordinate, and cutting along it a good first cut. */
#ifndef NW_MAP_PLACEMENT_RANK_STRIDES_H
#define NW_MAP_PLACEMENT_RANK_STRIDES_H

#include "map/placement/placement.h"

#define NW_STRIPES_MOST 24

struct nw_stripes {
    struct {
        int32_t step, size; /* coordinate of process p: p / step % size */
        int32_t *at;        /* [processes] the coordinate */
    } stripe[NW_STRIPES_MOST];
    int count;
    int32_t *memory;
};

NW_MUST_CHECK nw_status nw_stripes_find(const struct nw_placing *placing,
                                        struct nw_stripes *out);
void nw_stripes_fini(struct nw_stripes *stripes);

#endif

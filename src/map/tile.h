/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stencils: the grid that processes are numbered along, found from their bonds
 * alone, and its cells put on a tree: boxes within boxes where everything
 * divides, which is exact among all such ways, else cuts across the grid with
 * exact sizes.
 */
#ifndef NW_MAP_TILE_H
#define NW_MAP_TILE_H

#include "map/layout.h"

#define NW_TILE_DIMS 4
#define NW_TILE_STEPS 128

/* Cell of process p: coordinate d is p / stride[d] % size[d]; the last
 * dimension varies fastest. */
struct nw_tiling {
    int dims;
    int32_t size[NW_TILE_DIMS], stride[NW_TILE_DIMS];
    bool periodic[NW_TILE_DIMS];
    /* steps to neighbours, each pair of opposite ones once, and the mean bytes
     * of the bonds along it, where there are any */
    int steps;
    int32_t step[NW_TILE_STEPS][NW_TILE_DIMS];
    double bytes[NW_TILE_STEPS];
    bool uniform; /* every bond of the steps is there and has those bytes */
};

/* *found is false where processes are on no grid. O(bonds). */
NW_MUST_CHECK nw_status nw_tiling_find(const struct nw_layout *layout,
                                       struct nw_tiling *out, bool *found);

/* Fills seat[count]; *done is false where sizes do not divide, or something is
 * fixed. */
NW_MUST_CHECK nw_status nw_tiling_boxes(const struct nw_layout *layout,
                                        const struct nw_tiling *tiling,
                                        int32_t *seat, bool *done);
/* Fills seat[count], whatever the sizes; nothing may be fixed. */
NW_MUST_CHECK nw_status nw_tiling_cut(const struct nw_layout *layout,
                                      const struct nw_tiling *tiling,
                                      int32_t *seat);

/* The better of both where it is better than the layout, which changes then.
 * *cost is the layout's, before and after; *found says whether there is a
 * grid. */
NW_MUST_CHECK nw_status nw_layout_tile(struct nw_layout *layout, double *cost,
                                       bool *found);

/* Bytes between the cells of a box, each pair once. */
double nw_tiling_inside(const struct nw_tiling *tiling, const int32_t *shape);

static inline int32_t nw_tiling_at(const struct nw_tiling *tiling, int32_t p,
                                   int d)
{
    return p / tiling->stride[d] % tiling->size[d];
}

#endif

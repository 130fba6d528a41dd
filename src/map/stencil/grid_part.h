/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A part of a grid and its bisection. A part that is a box need not list its
 * cells: its size and corner alone give the position of each cell, and the
 * bytes that a cut between two layers cuts. A layer is all cells of the part
 * with the same coordinate in one dimension. Cells are listed only if a layer
 * must be split.
 */
#ifndef NW_MAP_STENCIL_GRID_PART_H
#define NW_MAP_STENCIL_GRID_PART_H

#include "map/stencil/grid.h"

/* A part of the grid: the cells first .. end - 1 in the order of
 * nw_grid_part_work.cell. They will be assigned to the clusters from .. to - 1
 * of level `level` of the machine's hierarchy. */
struct nw_grid_part {
    int32_t first, end, from, to;
    int level;                    /* level of the hierarchy */
    int32_t box[NW_STENCIL_DIMS]; /* size of the part if it is a box; box[0] is
                                     0 if the part has another form */
    int32_t corner[NW_STENCIL_DIMS]; /* lowest coordinates of the box */
    uint8_t along[NW_STENCIL_DIMS]; /* dimensions in the order in which cells of
                                       the part are numbered, slowest first */
    bool listed;                    /* nw_grid_part_work.cell and .at hold the
                                       cells */
};

#define NW_GRID_PART_KNOWN 32 /* number of bisections that are remembered */

/* A bisection of a box, remembered for other boxes of the same size. */
struct nw_grid_part_known {
    int32_t box[NW_STENCIL_DIMS], left; /* box: size of the box; left: number of
                                           cells in the first half */
    int chosen; /* dimension across which the box was cut */
};

/* State of the bisections of a grid. Each thread has a copy with its own
 * layer[]. The other arrays are shared by the threads, since each cell is in
 * only one part. */
struct nw_grid_part_work {
    const struct nw_assignment *assignment;
    const struct nw_stencil *stencil;
    int32_t *cell;     /* [count] all cells, part by part */
    int32_t *order;    /* [count] scratch for sorting the cells of a part */
    int32_t *best;     /* [count] order of a part's cells for the best cut so
                          far */
    int32_t *layer;    /* [largest size + 1] scratch for counting the cells of
                          layers */
    int32_t low, high; /* lowest and highest coordinate in use in `layer` */
    int32_t *cut; /* [count] where the cell is relative to the last cut near it:
                     the position of that cut in the order of cells if the cell
                     comes after it, 0 if before it */
    int32_t *at[NW_STENCIL_DIMS]; /* [count] coordinates of each cell, if
                                     listed */
    struct nw_grid_part_known known[NW_GRID_PART_KNOWN];
};

/* Lists the cells of a part in work->cell and work->at, if they are not listed
 * yet. Uses all threads if the part is the whole grid, otherwise one. */
void nw_grid_part_list(struct nw_grid_part_work *work,
                       struct nw_grid_part *part);
/* Assigns the cells of a part, in their order, to consecutive slots from
 * `first` on: sets slot[cell]. */
void nw_grid_part_assign(const struct nw_grid_part_work *work,
                         const struct nw_grid_part *part, int32_t first,
                         int32_t *slot);

/* Returns how many layers across dimension d hold exactly `left` cells of a
 * part. Returns 0 in these cases:
 * - `left` is not a multiple of the cells in a layer;
 * - the part is not a box;
 * - the dimension is periodic;
 * - the edges of the grid are not uniform.
 * If the result is not 0, nw_grid_part_cut_bytes computes the cut without
 * reading edges. */
int32_t nw_grid_part_layers(const struct nw_grid_part_work *work,
                            const struct nw_grid_part *part, int32_t left,
                            int d);
/* Returns the bytes between the first `layers` layers of a part that is a box,
 * across dimension d, and its other layers. */
double nw_grid_part_cut_bytes(const struct nw_grid_part_work *work,
                              const struct nw_grid_part *part, int32_t layers,
                              int d);

/* Bisects a part across the dimension in which the cut has the fewest
 * bytes. Its first `left` cells stay in `part`, the others go to `right`. The
 * caller divides the clusters between both. */
void nw_grid_part_bisect(struct nw_grid_part_work *work,
                         struct nw_grid_part *part, int32_t left,
                         struct nw_grid_part *right);

#endif

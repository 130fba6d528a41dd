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

/* The lowest and the highest coordinate, in one dimension, of a set of cells.
 */
struct nw_grid_part_span {
    int32_t low, high;
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
    int32_t *cell;  /* [count] all cells, part by part */
    int32_t *order; /* [count] scratch for sorting the cells of a part */
    int32_t *best;  /* [count] order of a part's cells for the best cut so
                       far */
    int32_t *layer; /* [largest size + 1] scratch for counting the cells of
                       layers */
    struct nw_grid_part_span span; /* range of coordinates in use in `layer` */
    int32_t *cut; /* [count] where the cell is relative to the last cut near it:
                     the position of that cut in the order of cells if the cell
                     comes after it, 0 if before it */
    int32_t *at[NW_STENCIL_DIMS]; /* [count] coordinates of each cell, if
                                     listed */
    struct nw_grid_part_known known[NW_GRID_PART_KNOWN];
};

/* Returns the part that is a box of the given size at the origin of the grid,
 * whose cells are numbered along the last dimension first. */
struct nw_grid_part nw_grid_part_box(const struct nw_stencil *stencil,
                                     const int32_t *size);
/* Lists the cells of a part in work->cell and work->at, if they are not listed
 * yet. Uses all threads if the part is the whole grid, otherwise one. */
void nw_grid_part_list(struct nw_grid_part_work *work,
                       struct nw_grid_part *part);
/* Assigns the cells of a part that is a box, in their order, to slot `first`
 * and then to every `apart`-th slot: sets slot[cell]. */
void nw_grid_part_assign(const struct nw_stencil *stencil,
                         const struct nw_grid_part *part, int32_t first,
                         int32_t apart, int32_t *slot);

/* Returns the range of coordinate d of the listed cells first .. end - 1. */
struct nw_grid_part_span nw_grid_part_span(const struct nw_grid_part_work *work,
                                           int32_t first, int32_t end, int d);
/* Sorts the listed cells first .. end - 1 by coordinate d, from work->cell to
 * work->order. Cells with equal coordinates keep their order. Sets work->span,
 * a range that contains their coordinates, and work->layer: layer[x] becomes
 * the index, relative to `first`, after the last cell of layer x. */
void nw_grid_part_sort(struct nw_grid_part_work *work, int32_t first,
                       int32_t end, int d);

/* Returns how many of `count` processes go to the first clusters of a range
 * that has `slots` slots, `left_slots` of them in these first clusters. The
 * processes are divided in proportion to the slots or, if `packed`, the first
 * clusters are filled. */
int32_t nw_grid_part_left(int64_t count, int64_t slots, int64_t left_slots,
                          bool packed);
/* Returns the cluster at which the clusters of a part that is a box are split
 * so that the cut lies between two layers of the box. Considers the clusters
 * near the middle and takes the one with the lowest quotient: bytes of the cut
 * / clusters on one side / clusters on the other side. Returns the middle
 * cluster if no cut qualifies, if there are fewer than three clusters, or if
 * the part is not a box. `first`: first slot of each cluster of the level. */
int32_t nw_grid_part_split_layers(const struct nw_stencil *stencil,
                                  const struct nw_grid_part *part,
                                  const int32_t *first, bool packed);

/* Divides the listed cells begin[0] .. begin[pieces] - 1 into pieces that are
 * nearly boxes (a jagged partition). Reorders the list so that piece i has the
 * entries begin[i] .. begin[i + 1] - 1. */
void nw_grid_part_jagged(struct nw_grid_part_work *work, const int32_t *begin,
                         int32_t pieces);

/* Bisects a part across the dimension in which the cut has the fewest
 * bytes. Its first `left` cells stay in `part`, the others go to `right`. The
 * caller divides the clusters between both. */
void nw_grid_part_bisect(struct nw_grid_part_work *work,
                         struct nw_grid_part *part, int32_t left,
                         struct nw_grid_part *right);

#endif

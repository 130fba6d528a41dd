/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A part of a grid and its bisection. A part whose cells form a box need not
 * list its cells: the box alone gives the bytes that a cut between two layers
 * cuts, and the position of each cell. Cells are listed only when a layer must
 * be split.
 */
#ifndef NW_MAP_STENCIL_GRID_PART_H
#define NW_MAP_STENCIL_GRID_PART_H

#include "map/stencil/grid.h"

/* A part consists of the cells first .. end - 1 in the order of all cells.
 * These will be assigned to the clusters from .. to - 1 of a level of the
 * machine's hierarchy. */
struct nw_grid_part {
    int32_t first, end, from, to;
    int level;                    /* level of these clusters */
    int32_t box[NW_STENCIL_DIMS]; /* size of the box that the cells fill; box[0]
                                     is 0 if they fill no box */
    int32_t corner[NW_STENCIL_DIMS]; /* corner of the box */
    uint8_t along[NW_STENCIL_DIMS]; /* order of the dimensions along which cells
                                       are numbered, slowest first */
    bool listed;                    /* nw_grid_part_work.cell and .at list the
                                       cells */
};

#define NW_GRID_PART_KNOWN 32 /* remembered bisections */

/* A bisection of a box, remembered for other boxes of the same size. */
struct nw_grid_part_known {
    int32_t box[NW_STENCIL_DIMS], left; /* size; cells of the first half */
    int chosen; /* dimension across which the box is cut */
};

/* Data of the bisections of a grid. Each thread has a copy with its own
 * layer[]. The other arrays are shared, since each process is in only one part.
 */
struct nw_grid_part_work {
    const struct nw_assignment *assignment;
    const struct nw_stencil *stencil;
    int32_t *cell;     /* [count] cells in order, part by part */
    int32_t *order;    /* [count] scratch for sorting */
    int32_t *best;     /* [count] the best order so far */
    int32_t *layer;    /* [largest size + 1] scratch for counts per layer */
    int32_t low, high; /* range of the coordinates in `layer` */
    int32_t *cut; /* [count] the process comes after the cut at this position
                     of the order, the last one near it; 0: before it */
    int32_t *at[NW_STENCIL_DIMS]; /* [count] coordinates of each process */
    struct nw_grid_part_known known[NW_GRID_PART_KNOWN];
};

/* Lists the cells of a part in cell[] and at[], if they are not listed yet.
 * Uses all threads if the part is the whole grid. */
void nw_grid_part_list(struct nw_grid_part_work *work,
                       struct nw_grid_part *share);
/* Assigns the cells of a part, in their order, to the slots from `first` on. */
void nw_grid_part_assign(const struct nw_grid_part_work *work,
                         const struct nw_grid_part *share, int32_t first,
                         int32_t *slot);

/* Returns how many layers of a box across dimension d contain exactly `left`
 * cells. Returns 0 if `left` is not a multiple of a layer, if the part has no
 * box, if the dimension is periodic or if the edges are not uniform. If the
 * result is not 0, nw_grid_part_cut_bytes computes the cut without reading
 * edges. */
int32_t nw_grid_part_layers(const struct nw_grid_part_work *work,
                            const struct nw_grid_part *share, int32_t left,
                            int d);
/* Returns the bytes between the first `layers` layers of a box across dimension
 * d and the rest. */
double nw_grid_part_cut_bytes(const struct nw_grid_part_work *work,
                              const struct nw_grid_part *share, int32_t layers,
                              int d);

/* Bisects the part `share` across the dimension in which the cut has the fewest
 * bytes: `left` cells stay in `share`, the others go to `right`. The caller
 * divides the clusters. */
void nw_grid_part_bisect(struct nw_grid_part_work *work,
                         struct nw_grid_part *share, int32_t left,
                         struct nw_grid_part *right);

#endif

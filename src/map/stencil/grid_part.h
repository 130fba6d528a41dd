/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A part of a grid and its bisection. As long as only whole layers are split
 * off, the cells of a box are not listed: the box alone gives the cut and the
 * position of each cell.
 */
#ifndef NW_MAP_STENCIL_GRID_PART_H
#define NW_MAP_STENCIL_GRID_PART_H

#include "map/stencil/grid.h"

/* Cells first .. end - 1 of the order, which belong on clusters from .. to - 1
 * of a level. */
struct nw_grid_part {
    int32_t first, end, from, to;
    int level;
    int32_t box[NW_STENCIL_DIMS]; /* size of the box that the cells fill; box[0]
                                     is 0 if they fill no box */
    int32_t corner[NW_STENCIL_DIMS]; /* corner of the box */
    uint8_t along[NW_STENCIL_DIMS]; /* order of the dimensions along which cells
                                       are numbered, slowest first */
    bool listed;                    /* nw_grid_part_work.cell and .at list the
                                       cells */
};

#define NW_GRID_PART_KNOWN 32

/* A bisection of a box, reused for equal boxes. */
struct nw_grid_part_known {
    int32_t box[NW_STENCIL_DIMS], left;
    int chosen;
};

struct nw_grid_part_work {
    const struct nw_assignment *assignment;
    const struct nw_stencil *stencil;
    int32_t *cell;     /* [count] cells in order, part by part */
    int32_t *order;    /* [count] scratch for sorting */
    int32_t *best;     /* [count] the best order so far */
    int32_t *layer;    /* [largest size + 1] scratch for counts per layer */
    int32_t low, high; /* range of the coordinates in `layer` */
    int32_t *cut; /* [count] position in the order of the last cut whose right
                     part holds the process; 0: none */
    int32_t *at[NW_STENCIL_DIMS]; /* [count] coordinates of each process */
    struct nw_grid_part_known known[NW_GRID_PART_KNOWN];
};

/* Lists the cells of a part; uses all threads if the part is the whole grid. */
void nw_grid_part_list(struct nw_grid_part_work *work,
                       struct nw_grid_part *share);
/* Assigns the cells of a part to the slots from `first` on. */
void nw_grid_part_assign(const struct nw_grid_part_work *work,
                         const struct nw_grid_part *share, int32_t first,
                         int32_t *slot);

/* Returns how many whole layers of a box across dimension d hold exactly `left`
 * cells; 0 if no whole number does. With whole layers, the offsets alone give
 * the bytes that are cut. */
int32_t nw_grid_part_layers(const struct nw_grid_part_work *work,
                            const struct nw_grid_part *share, int32_t left,
                            int d);
/* Returns the bytes between the first `layers` layers of a box across dimension
 * d and the rest. */
double nw_grid_part_cut_bytes(const struct nw_grid_part_work *work,
                              const struct nw_grid_part *share, int32_t layers,
                              int d);

/* Bisects the cells across the dimension that cuts the fewest bytes: `left`
 * cells stay in `share`, the others go to `right`. */
void nw_grid_part_bisect(struct nw_grid_part_work *work,
                         struct nw_grid_part *share, int32_t left,
                         struct nw_grid_part *right);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A part of a grid and its bisection. The cells of a box are not listed as long
 * as only whole layers are split off: the box alone then determines the cut and
 * the position of each cell.
 */
#ifndef NW_MAP_STENCIL_GRID_PART_H
#define NW_MAP_STENCIL_GRID_PART_H

#include "map/stencil/grid.h"

/* Cells first .. end - 1 and clusters from .. to - 1 of a level. */
struct nw_grid_part {
    int32_t first, end, from, to;
    int level;
    int32_t box[NW_STENCIL_DIMS]; /* size of the box that the cells fill; box[0]
                                     0: they fill none */
    int32_t corner[NW_STENCIL_DIMS]; /* corner of the box */
    uint8_t along[NW_STENCIL_DIMS]; /* order of the dimensions along which cells
                                       are numbered, slowest first */
    bool listed;                    /* `cell` and `at` list its cells */
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
    int32_t *cell;     /* [count] cells of a part together, in order */
    int32_t *order;    /* [count] scratch for sorting */
    int32_t *best;     /* [count] the best order so far */
    int32_t *layer;    /* [largest size + 1] */
    int32_t low, high; /* range of the coordinates in `layer` */
    int32_t *cut; /* [count] the last cut with this process just behind it; 0:
                     none */
    int32_t *at[NW_STENCIL_DIMS]; /* [count] coordinates of each process */
    struct nw_grid_part_known known[NW_GRID_PART_KNOWN];
};

/* Lists the cells; for the whole grid with all threads. */
void nw_grid_part_list(struct nw_grid_part_work *work,
                       struct nw_grid_part *share);
/* Assigns the cells to slots from `first` on. */
void nw_grid_part_assign(const struct nw_grid_part_work *work,
                         const struct nw_grid_part *share, int32_t first,
                         int32_t *slot);

/* The number of layers of dimension d that hold exactly `left` cells of a box;
 * 0 if they are not whole. With whole layers the offsets alone give the bytes
 * that are cut. */
int32_t nw_grid_part_layers(const struct nw_grid_part_work *work,
                            const struct nw_grid_part *share, int32_t left,
                            int d);
/* Bytes between so many layers of a box and the rest. */
double nw_grid_part_cut_bytes(const struct nw_grid_part_work *work,
                              const struct nw_grid_part *share, int32_t layers,
                              int d);

/* Bisects the cells across the dimension that cuts the fewest bytes: `left` of
 * them stay in `share`, the rest go to `right`. */
void nw_grid_part_bisect(struct nw_grid_part_work *work,
                         struct nw_grid_part *share, int32_t left,
                         struct nw_grid_part *right);

#endif

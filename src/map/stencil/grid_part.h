/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A share of a grid's cells, and how it is parted in two. Cells that fill a box
 * are not listed as long as only whole layers are taken off it: then what is
 * cut and where each cell stands are known from the box alone.
 */
#ifndef NW_MAP_STENCIL_GRID_PART_H
#define NW_MAP_STENCIL_GRID_PART_H

#include "map/stencil/grid.h"

/* Cells first .. end - 1 and clusters from .. to - 1 of a level. */
struct nw_grid_part {
    int32_t first, end, from, to;
    int level;
    int32_t
        box[NW_STENCIL_DIMS]; /* its cells fill one; box[0] 0: they do not */
    int32_t corner[NW_STENCIL_DIMS]; /* of it */
    uint8_t
        along[NW_STENCIL_DIMS]; /* dimensions its cells follow, first slowest */
    bool listed;                /* cell, piece and at say its cells */
};

#define NW_GRID_PART_KNOWN 32

/* How a box was parted that another is like. */
struct nw_grid_part_known {
    int32_t box[NW_STENCIL_DIMS], left;
    int chosen;
};

struct nw_grid_part_work {
    const struct nw_assignment *assignment;
    const struct nw_stencil *stencil;
    int32_t *cell;     /* [count] those of a share together, in order */
    int32_t *order;    /* [count] for sorting */
    int32_t *best;     /* [count] the best order so far */
    int32_t *layer;    /* [largest size + 1] */
    int32_t low, high; /* coordinates that it tells of */
    int32_t *cut;      /* [count] where the last cut was that had the
                          process near behind it; 0: none */
    int32_t *at[NW_STENCIL_DIMS]; /* [count] coordinates of each process */
    struct nw_grid_part_known known[NW_GRID_PART_KNOWN];
};

/* Lists the cells; those of the whole grid on its threads. */
void nw_grid_part_list(struct nw_grid_part_work *work,
                       struct nw_grid_part *share);
/* Seats them from seat `first` on. */
void nw_grid_part_assign(const struct nw_grid_part_work *work,
                         const struct nw_grid_part *share, int32_t first,
                         int32_t *slot);

/* Where `left` cells of a box are whole layers of dimension d, how many they
 * are, else 0: then the steps alone say what is cut. */
int32_t nw_grid_part_layers(const struct nw_grid_part_work *work,
                            const struct nw_grid_part *share, int32_t left,
                            int d);
/* Bytes between so many layers of a box and its others. */
double nw_grid_part_cut_bytes(const struct nw_grid_part_work *work,
                              const struct nw_grid_part *share, int32_t layers,
                              int d);

/* Parts the cells in the dimension that lets the least bytes across: `left` of
 * them to `share`, the others to `right`. */
void nw_grid_part_bisect(struct nw_grid_part_work *work,
                         struct nw_grid_part *share, int32_t left,
                         struct nw_grid_part *right);

#endif

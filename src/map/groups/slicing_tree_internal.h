/* SPDX-License-Identifier: BSD-3-Clause */
/* State shared by slicing_tree.c and slicing_tree_cuts.c. */
#ifndef NW_MAP_GROUPS_SLICING_TREE_INTERNAL_H
#define NW_MAP_GROUPS_SLICING_TREE_INTERNAL_H

#include "base/random.h"
#include "map/groups/slicing_tree.h"

/* How an inner node of the slicing tree bisects its cells (its piece). Cells
 * are sorted by distance from a centre, cells at (almost) equal distances by
 * `lead` and `turned`. */
struct slicing_tree_cut {
    double share; /* fraction of the piece's parts whose cells come before the
                     cut */
    bool across;  /* true: the cut is across a dimension; all distances count as
                     0 */
    /* position of the centre in the bounding box of the piece, 0 to 1 */
    double at[NW_STENCIL_DIMS];
    /* factor of the distance from the centre in each dimension */
    double far[NW_STENCIL_DIMS];
    int lead; /* dimension that is most significant in the order of cells at
                 equal distances */
    uint32_t turned; /* bit d: cells are sorted downwards in dimension d */
};

/* The parts in the order in which the cuts separate them, and their sizes. */
struct slicing_tree_sizes {
    /* the i-th part has as many cells as first[i + 1] - first[i] */
    int32_t first[NW_SWITCH_GROUPS_MAX + 1];
    /* number of the i-th part, as in nw_best_division.part */
    int32_t name[NW_SWITCH_GROUPS_MAX];
};

/* A piece of the grid: the cells of some parts that follow each other in
 * slicing_tree_sizes, to be divided by parts - 1 cuts. */
struct slicing_tree_piece {
    struct slicing_tree_box *box; /* first cell of the piece */
    /* cut that divides the piece first; the cuts of its halves follow */
    const struct slicing_tree_cut *cut;
    /* number of parts of the piece; index of its first part in
     * slicing_tree_sizes */
    int32_t parts, first;
};

/* A cell of the grid, which is a rank. */
struct slicing_tree_box {
    double far; /* value by which the present cut sorts the cells, ascending */
    int32_t rank; /* rank of the cell */
};

/* State of a piece before its last change, by which a rejected change is
 * undone. */
struct slicing_tree_remains {
    /* [ranks] cells of the piece in their former order */
    struct slicing_tree_box *box;
    /* [ranks] part of each cell in `box` before the change */
    int32_t *part;
    int32_t *now;    /* [ranks] part of each cell in `box` after the change */
    double *leaving; /* [parts] slicing_tree_work.leaving before the change */
};

/* State of one call of nw_slicing_tree. */
struct slicing_tree_work {
    const struct nw_slots *slots;
    const struct nw_stencil *stencil;
    /* [parts + 1] part p has space[p + 1] - space[p] slots */
    const int32_t *space;
    struct nw_best_division *best;
    struct nw_random random;
    struct slicing_tree_sizes sizes;
    bool unlike; /* the parts differ in size, or some slots stay free */
    int32_t ranks;
    /* [parts - 1] cuts of the tree's inner nodes in preorder */
    struct slicing_tree_cut *cut;
    /* [ranks] coordinates of each rank in the grid */
    int32_t (*cell)[NW_STENCIL_DIMS];
    /* [ranks] all cells; those of a piece follow each other */
    struct slicing_tree_box *box;
    int32_t *part;   /* [ranks] part of each rank */
    double *leaving; /* [parts] bytes that each part sends to and receives from
                        other parts */
    struct slicing_tree_remains before;
};

/*
 * Defined in slicing_tree_cuts.c. nw_slicing_tree_count_boxes returns the
 * number of cells in a piece. nw_slicing_tree_slice_all divides the whole grid;
 * nw_slicing_tree_reslice divides one piece again after a change of its cuts,
 * and saves the former state in `before`.
 */

int32_t nw_slicing_tree_count_boxes(const struct slicing_tree_work *work,
                                    const struct slicing_tree_piece *piece);

void nw_slicing_tree_slice_all(struct slicing_tree_work *work);

/* Returns the piece that `cut` divides: a change of the cut affects only the
 * cells of this piece. */
struct slicing_tree_piece
nw_slicing_tree_find_piece(const struct slicing_tree_work *work,
                           const struct slicing_tree_cut *cut);

void nw_slicing_tree_reslice(struct slicing_tree_work *work,
                             const struct slicing_tree_piece *piece);

#endif

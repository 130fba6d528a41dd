/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the slicing tree. */
#ifndef NW_MAP_GROUPS_SLICING_TREE_INTERNAL_H
#define NW_MAP_GROUPS_SLICING_TREE_INTERNAL_H

#include "base/random.h"
#include "map/groups/slicing_tree.h"

/* How a node of the tree bisects its cells. */
struct slicing_tree_cut {
    double share;                /* fraction of the parts that come before the
                                    cut */
    bool across;                 /* cuts across a dimension: cells are sorted by
                                    `lead` and `turned` only */
    double at[NW_STENCIL_DIMS];  /* centre of the distances: position in the
                                    piece, 0 to 1 */
    double far[NW_STENCIL_DIMS]; /* length of a cell in each dimension, for
                                    distances from the centre */
    int lead;                    /* dimension that is most significant in the
                                    order of the cells */
    uint32_t turned;             /* bit d: dimension d is sorted downwards */
};

/* The parts in the order in which they are cut off. */
struct slicing_tree_sizes {
    int32_t first[NW_SWITCH_GROUPS_MAX + 1]; /* the i-th part has cells first[i]
                                                .. first[i + 1] - 1 */
    int32_t name[NW_SWITCH_GROUPS_MAX];      /* number of the i-th part */
};

/* A piece of the grid: the cells of some consecutive parts, to be divided by
 * parts - 1 cuts. */
struct slicing_tree_piece {
    struct slicing_tree_box *box;       /* first cell of the piece */
    const struct slicing_tree_cut *cut; /* its first cut */
    int32_t parts, first; /* number of parts; index of the first part */
};

/* A cell of the grid. */
struct slicing_tree_box {
    double far;   /* value by which the present cut sorts cells */
    int32_t rank; /* rank of the cell */
};

/* State of a piece before its last change, from which a rejected change is
 * undone. */
struct slicing_tree_remains {
    struct slicing_tree_box *box; /* [ranks] cells in their former order */
    /* [ranks] part of each cell in `box` before the change */
    int32_t *part;
    int32_t *now;    /* [ranks] part of each cell in `box` after the change */
    double *leaving; /* [parts] slicing_tree_work.leaving before the change */
};

/* State of the search. */
struct slicing_tree_work {
    const struct nw_slots *slots;
    const struct nw_stencil *stencil;
    const int32_t *space; /* [parts + 1] slots of part p begin at space[p] */
    struct nw_best_division *best;
    struct nw_random random;
    struct slicing_tree_sizes sizes;
    bool unlike; /* parts differ in size, or some slots stay free */
    int32_t ranks;
    /* [parts - 1] cuts of the tree in preorder */
    struct slicing_tree_cut *cut;
    int32_t (*cell)[NW_STENCIL_DIMS]; /* [ranks] coordinates of each rank */
    struct slicing_tree_box *box;     /* [ranks] cells, piece by piece */
    int32_t *part;                    /* [ranks] part of each rank */
    double *leaving; /* [parts] bytes that a part sends to and receives from
                        other parts */
    struct slicing_tree_remains before;
};

/*
 * Defined in slicing_tree_cuts.c.
 *
 * nw_slicing_tree_count_boxes returns the number of cells in a piece.
 * nw_slicing_tree_slice_all divides the whole grid; nw_slicing_tree_reslice
 * divides one piece again after a change of its cuts, and saves the former
 * state in `before`.
 */

int32_t nw_slicing_tree_count_boxes(const struct slicing_tree_work *work,
                                    const struct slicing_tree_piece *piece);

void nw_slicing_tree_slice_all(struct slicing_tree_work *work);

/* Returns the piece that `cut` divides: a change of the cut affects only this
 * piece. */
struct slicing_tree_piece
nw_slicing_tree_find_piece(const struct slicing_tree_work *work,
                           const struct slicing_tree_cut *cut);

void nw_slicing_tree_reslice(struct slicing_tree_work *work,
                             const struct slicing_tree_piece *piece);

#endif

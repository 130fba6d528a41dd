/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the slicing tree. */
#ifndef NW_MAP_GROUPS_SLICING_TREE_INTERNAL_H
#define NW_MAP_GROUPS_SLICING_TREE_INTERNAL_H

#include "base/random.h"
#include "map/groups/slicing_tree.h"

struct slicing_tree_cut {
    double share;                /* of the parts, that come first */
    bool across;                 /* by the order of the cells alone */
    double at[NW_STENCIL_DIMS];  /* position, 0 to 1 along the piece */
    double far[NW_STENCIL_DIMS]; /* of a cell in that dimension */
    int lead;                    /* dimension that comes first in the order */
    uint32_t turned;             /* dimensions whose order is downwards */
};

/* The parts as they are cut off one after the other. */
struct slicing_tree_sizes {
    int32_t first[NW_SWITCH_GROUPS_MAX + 1]; /* boxes of each from first[i] */
    int32_t name[NW_SWITCH_GROUPS_MAX];
};

/* Cells of some parts, to be cut by so many knives less one. */
struct slicing_tree_piece {
    struct slicing_tree_box *box;
    const struct slicing_tree_cut *cut;
    int32_t parts, first; /* index of the first */
};

struct slicing_tree_box {
    double far;
    int32_t rank;
};

/* A piece before the last change, to restore it. */
struct slicing_tree_remains {
    struct slicing_tree_box *box; /* [ranks] */
    int32_t *part;                /* [ranks] of these, then and now */
    int32_t *now;
    double *leaving; /* [parts] */
};

struct slicing_tree_work {
    const struct nw_slots *slots;
    const struct nw_stencil *stencil;
    const int32_t *space; /* [parts + 1] slots of part p begin at space[p] */
    struct nw_best_division *best;
    struct nw_random random;
    struct slicing_tree_sizes sizes;
    bool unlike; /* in size, or free slots are left */
    int32_t ranks;
    struct slicing_tree_cut
        *cut; /* [parts - 1], what comes first before the rest */
    int32_t (*cell)[NW_STENCIL_DIMS]; /* [ranks] */
    struct slicing_tree_box *box;     /* [ranks] */
    int32_t *part;                    /* [ranks] */
    double *leaving;                  /* [parts] */
    struct slicing_tree_remains before;
};

/* slicing_tree_cuts.c */

int32_t nw_slicing_tree_count_boxes(const struct slicing_tree_work *work,
                                    const struct slicing_tree_piece *piece);

void nw_slicing_tree_slice_all(struct slicing_tree_work *work);

/* Finds the piece that `cut` bisects: a change of the cut affects only this. */
struct slicing_tree_piece
nw_slicing_tree_find_piece(const struct slicing_tree_work *work,
                           const struct slicing_tree_cut *cut);

void nw_slicing_tree_reslice(struct slicing_tree_work *work,
                             const struct slicing_tree_piece *piece);

#endif

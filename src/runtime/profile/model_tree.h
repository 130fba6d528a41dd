/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees over ranks numbered from the root, which is 0. */
#ifndef NW_PROFILE_MODEL_TREE_H
#define NW_PROFILE_MODEL_TREE_H

/* HIGH: a child adds a bit above its parent's highest; LOW: below its lowest;
 * CHAINS: as many as NW_CHAIN_COUNT of them, of consecutive ranks. */
enum nw_tree {
    NW_TREE_FLAT,
    NW_TREE_LINE,
    NW_TREE_CHAINS,
    NW_TREE_BINARY,
    NW_TREE_HIGH,
    NW_TREE_LOW,
};

#define NW_CHAIN_COUNT 4 /* Open MPI's coll_tuned_*_chainfanout */

/* The parent of `rank`, which is not 0. */
int nw_tree_parent(enum nw_tree tree, int rank, int size);
/* The child of `rank` that comes after the child `after` (0: the first); 0
 * after the last child. */
int nw_tree_child(enum nw_tree tree, int rank, int size, int after);
/* Ranks below and including `rank` in a LOW tree; they are consecutive. */
int nw_tree_low_weight(int rank, int size);

#endif

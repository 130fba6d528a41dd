/* SPDX-License-Identifier: BSD-3-Clause */
/* Trees over the ranks 0 to size - 1, with root 0. */
#ifndef NW_PROFILE_COLLECTIVE_TREES_H
#define NW_PROFILE_COLLECTIVE_TREES_H

/* Kinds of trees. In FLAT, all ranks are children of the root; in LINE, each
 * rank is the child of the rank before it. CHAINS has up to NW_CHAIN_COUNT
 * chains of consecutive ranks below the root. HIGH and LOW are binomial trees:
 * a child's number is that of its parent with one more bit, which is above the
 * parent's highest bit in HIGH, and below its lowest bit in LOW. */
enum nw_tree {
    NW_TREE_FLAT,
    NW_TREE_LINE,
    NW_TREE_CHAINS,
    NW_TREE_BINARY,
    NW_TREE_HIGH,
    NW_TREE_LOW,
};

#define NW_CHAIN_COUNT 4 /* Open MPI's coll_tuned_*_chainfanout */

/* Returns the parent of `rank`, which is not 0. */
int nw_tree_parent(enum nw_tree tree, int rank, int size);
/* Returns the child of `rank` after the child `after`, or the first child if
 * `after` is 0. Returns 0 after the last child. */
int nw_tree_child(enum nw_tree tree, int rank, int size, int after);
/* Returns the number of ranks in the subtree of `rank` in a NW_TREE_LOW tree,
 * `rank` included. The ranks of a subtree are consecutive. */
int nw_tree_low_weight(int rank, int size);

#endif

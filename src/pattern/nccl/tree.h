/* SPDX-License-Identifier: BSD-3-Clause */
/* NCCL's double binary tree: the partners of each rank. */
#ifndef NW_PATTERN_NCCL_TREE_H
#define NW_PATTERN_NCCL_TREE_H

#include <stddef.h>

enum { NW_NCCL_TREE_PEERS = 64 };

/* The parent of `rank` in the tree of `size` ranks whose root is 0; -1 at the
 * root. */
int nw_nccl_parent(int rank, int size);

/* Writes the parent and the children of `rank` in tree `tree` (0 or 1) to
 * `peer`, which holds NW_NCCL_TREE_PEERS ranks, and returns their number. The
 * second tree is the first one mirrored (even sizes) or rotated by one (odd
 * sizes), so that a rank is a leaf of at most one tree. */
size_t nw_nccl_tree_peers(int rank, int size, int tree, int *peer);

#endif

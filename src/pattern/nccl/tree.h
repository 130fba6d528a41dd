/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the partners of each rank in NCCL's double binary tree. */
#ifndef NW_PATTERN_NCCL_TREE_H
#define NW_PATTERN_NCCL_TREE_H

#include <stddef.h>

enum { NW_NCCL_TREE_PEERS = 64 };

/* Writes the parent and the children of `rank` in tree `tree` (0 or 1) to
 * peer[], which has NW_NCCL_TREE_PEERS elements. Returns their number. Tree 1
 * is tree 0 mirrored (even sizes) or rotated by one (odd sizes), so that a rank
 * is a leaf of at most one tree. */
size_t nw_nccl_tree_peers(int rank, int size, int tree, int *peer);

#endif

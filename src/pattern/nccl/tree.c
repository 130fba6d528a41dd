/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes a tree in which ranks have the order of a binary search tree: odd
 * ranks are leaves, and the lowest set bit of a rank gives its height. Sanders,
 * Speck and Traff, "Two-tree algorithms for full bandwidth broadcast, reduction
 * and scan" (2009).
 */
#include "pattern/nccl/tree.h"

/* Returns the parent of `rank` in the tree of `size` ranks with root 0, or -1
 * for the root. */
static int nccl_tree_parent(int rank, int size)
{
    int bit = rank & -rank, up = (rank ^ bit) | bit << 1;

    if (!rank)
        return -1;
    return up < size ? up : rank ^ bit;
}

/* Returns the rank that has, in tree 0, the position that `rank` has in tree
 * `tree`. nccl_tree_turn_back is the inverse. */
static int nccl_tree_turn(int rank, int size, int tree)
{
    return !tree ? rank : size % 2 ? (rank + size - 1) % size : size - 1 - rank;
}

static int nccl_tree_turn_back(int rank, int size, int tree)
{
    return !tree ? rank : size % 2 ? (rank + 1) % size : size - 1 - rank;
}

size_t nw_nccl_tree_peers(int rank, int size, int tree, int *peer)
{
    int me = nccl_tree_turn(rank, size, tree);
    int parent = nccl_tree_parent(me, size);
    size_t count = 0;

    if (parent >= 0)
        peer[count++] = nccl_tree_turn_back(parent, size, tree);
    for (int bit = 1; bit > 0 && bit < size; bit <<= 1)
        for (int side = -1; side <= 1; side += 2) {
            int child = me + side * bit;

            if (child > 0 && child < size &&
                nccl_tree_parent(child, size) == me)
                peer[count++] = nccl_tree_turn_back(child, size, tree);
        }
    return count;
}

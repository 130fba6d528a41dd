/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The trees of Open MPI's source file coll_base_topo.c.
 */
#include "runtime/profile/collective_trees.h"

static int highest_bit(int rank)
{
    return 1 << (31 - __builtin_clz((unsigned)rank));
}

/* Returns the parent of a rank in the binary tree. Level l begins at rank 2^l -
 * 1. The ranks of a level are assigned in turn to the 2^(l-1) parents in the
 * level above. */
static int binary_parent(int rank)
{
    int start = highest_bit(rank + 1) - 1, above = (start + 1) / 2;

    return rank < 3 ? 0 : above - 1 + (rank - start) % above;
}

/* Returns the parent of a rank if the other size - 1 ranks form up to
 * NW_CHAIN_COUNT chains below the root. The lengths of the chains differ by at
 * most one; the longer chains come first. */
static int chains_parent(int rank, int size)
{
    int chains = size - 1 < NW_CHAIN_COUNT ? size - 1 : NW_CHAIN_COUNT;
    int length = (size - 1) / chains, longer = (size - 1) % chains;
    int edge = longer * (length + 1);
    int place = rank - 1 < edge ? (rank - 1) % (length + 1)
                                : (rank - 1 - edge) % length;

    return place ? rank - 1 : 0;
}

int nw_tree_parent(enum nw_tree tree, int rank, int size)
{
    switch (tree) {
    case NW_TREE_LINE:
        return rank - 1;
    case NW_TREE_CHAINS:
        return chains_parent(rank, size);
    case NW_TREE_BINARY:
        return binary_parent(rank);
    case NW_TREE_HIGH:
        return rank - highest_bit(rank);
    case NW_TREE_LOW:
        return rank & (rank - 1);
    default:
        return 0;
    }
}

/* Returns the next child of `rank` after the child `after` (0: the first child)
 * in a binomial tree of unlimited size. A child's number is that of its parent
 * plus a power of two. In NW_TREE_LOW this power is from 1 to half of the
 * parent's lowest bit; in NW_TREE_HIGH it is above the parent's highest bit. */
static int binomial_child(enum nw_tree tree, int rank, int after)
{
    int first = tree == NW_TREE_LOW || !rank ? 1 : 2 * highest_bit(rank);
    int step = after ? 2 * (after - rank) : first;

    if (tree == NW_TREE_LOW && rank && step >= (rank & -rank))
        return 0;
    return rank + step;
}

static int binary_child(int rank, int after)
{
    int width = highest_bit(rank + 1);

    if (!after)
        return rank + width;
    return after == rank + width ? rank + 2 * width : 0;
}

static int chains_child(int rank, int size, int after)
{
    int child = after ? after + 1 : rank + 1;

    if (rank)
        return after || child >= size || !chains_parent(child, size) ? 0
                                                                     : child;
    while (child < size && chains_parent(child, size))
        child++;
    return child;
}

int nw_tree_child(enum nw_tree tree, int rank, int size, int after)
{
    int child = 0;

    if (tree == NW_TREE_FLAT)
        child = rank ? 0 : after + 1;
    else if (tree == NW_TREE_LINE)
        child = after ? 0 : rank + 1;
    else if (tree == NW_TREE_CHAINS)
        child = chains_child(rank, size, after);
    else if (tree == NW_TREE_BINARY)
        child = binary_child(rank, after);
    else
        child = binomial_child(tree, rank, after);
    return child < size ? child : 0;
}

int nw_tree_low_weight(int rank, int size)
{
    int weight = rank ? rank & -rank : size;

    return weight < size - rank ? weight : size - rank;
}

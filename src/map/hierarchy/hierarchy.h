/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A machine where near means a common ancestor: the distance of two places is
 * that of the smallest subtree that holds both. Places become seats, one for
 * each rank they take, numbered along the tree; a seat's code holds the way to
 * it, so that the first bit in which two codes differ gives their distance.
 * Uneven trees are fine; subtrees are called clusters here.
 */
#ifndef NW_MAP_HIERARCHY_HIERARCHY_H
#define NW_MAP_HIERARCHY_HIERARCHY_H

#include "map/placement/placement.h"

#define NW_TREE_LEVELS 24

struct nw_tree {
    bool exact; /* else a likeness: say, cards are nearer to some cores */
    int32_t seats;
    int32_t *place;   /* [seats] */
    uint64_t *code;   /* [seats] */
    double apart[64]; /* distance by the highest bit that differs, plus 1 */
    /* Clusters of level l hold seats at most distance[l] apart: level 0 single
     * places, level `levels` - 1 everything. Cluster c of level l is the seats
     * first[l][c] .. first[l][c + 1] - 1; cluster[l][s] is that of a seat. */
    int32_t levels;
    double distance[NW_TREE_LEVELS];
    int32_t count[NW_TREE_LEVELS];
    int32_t *first[NW_TREE_LEVELS];
    int32_t *cluster[NW_TREE_LEVELS];
};

/* *is_tree is false, and *tree empty, where there are too many distances. */
NW_MUST_CHECK nw_status nw_tree_init(struct nw_tree *tree,
                                     const struct nw_placing *placing,
                                     bool *is_tree);
void nw_tree_fini(struct nw_tree *tree);

/* The same from the distances of neighbouring seats alone: gap[s] between s
 * and s + 1. Of places[s]; both arrays are copied. */
NW_MUST_CHECK nw_status nw_tree_from_gaps(struct nw_tree *tree,
                                          const double *gap,
                                          const int32_t *place, int32_t seats,
                                          bool *is_tree);

static inline double nw_tree_apart(const struct nw_tree *tree, uint64_t a,
                                   uint64_t b)
{
    return tree->apart[63 - __builtin_clzll(((a ^ b) << 1) | 1)];
}

#endif

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

#define NW_HIERARCHY_LEVELS 24

struct nw_hierarchy {
    bool exact; /* else a likeness: say, cards are nearer to some cores */
    int32_t slots;
    int32_t *place;   /* [seats] */
    uint64_t *code;   /* [seats] */
    double apart[64]; /* distance by the highest bit that differs, plus 1 */
    /* Clusters of level l hold seats at most distance[l] apart: level 0 single
     * places, level `levels` - 1 everything. Cluster c of level l is the seats
     * first[l][c] .. first[l][c + 1] - 1; cluster[l][s] is that of a seat. */
    int32_t levels;
    double distance[NW_HIERARCHY_LEVELS];
    int32_t count[NW_HIERARCHY_LEVELS];
    int32_t *first[NW_HIERARCHY_LEVELS];
    int32_t *cluster[NW_HIERARCHY_LEVELS];
};

/* *is_tree is false, and *tree empty, where there are too many distances. */
NW_MUST_CHECK nw_status nw_hierarchy_init(struct nw_hierarchy *hierarchy,
                                          const struct nw_placement *placement,
                                          bool *is_hierarchy);
void nw_hierarchy_fini(struct nw_hierarchy *hierarchy);

/* The same from the distances of neighbouring seats alone: gap[s] between s
 * and s + 1. Of places[s]; both arrays are copied. */
NW_MUST_CHECK nw_status nw_hierarchy_from_gaps(struct nw_hierarchy *hierarchy,
                                               const double *gap,
                                               const int32_t *place,
                                               int32_t slots,
                                               bool *is_hierarchy);

static inline double nw_hierarchy_distance(const struct nw_hierarchy *hierarchy,
                                           uint64_t a, uint64_t b)
{
    return hierarchy->apart[63 - __builtin_clzll(((a ^ b) << 1) | 1)];
}

#endif

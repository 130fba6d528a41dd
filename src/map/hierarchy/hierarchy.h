/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A machine as a tree: the distance of two places is that of the smallest
 * subtree that holds both. Each place has as many slots as it can take
 * processes, and slots are numbered along the tree. The code of a slot holds
 * its path from the root, so the highest bit in which two codes differ gives
 * the distance of the slots. The tree may be uneven; its subtrees are called
 * clusters.
 */
#ifndef NW_MAP_HIERARCHY_HIERARCHY_H
#define NW_MAP_HIERARCHY_HIERARCHY_H

#include "map/placement/placement.h"

#define NW_HIERARCHY_LEVELS 24

/* The tree and its slots. */
struct nw_hierarchy {
    bool exact;     /* the tree gives the exact distances of a random sample of
                       pairs of places; false: it approximates the distances,
                       for instance if NICs are nearer to some cores. Only
                       nw_hierarchy_init sets it */
    int32_t slots;  /* number of slots */
    int32_t *place; /* [slots] place of a slot */
    uint64_t *code; /* [slots] code (path in the tree) of a slot */
    double apart[64]; /* distance of two slots, indexed by 1 + the highest bit
                         in which their codes differ; [0] is for equal codes */
    /* Clusters of level l are the largest runs of slots with no two more than
     * distance[l] apart: the slots of one place (at distance 0) at level 0, all
     * slots at level `levels` - 1. Cluster c of level l holds slots first[l][c]
     * .. first[l][c + 1] - 1; cluster[l][s] is the cluster of slot s; count[l]
     * is the number of clusters. */
    int32_t levels;
    double distance[NW_HIERARCHY_LEVELS];
    int32_t count[NW_HIERARCHY_LEVELS];
    int32_t *first[NW_HIERARCHY_LEVELS];
    int32_t *cluster[NW_HIERARCHY_LEVELS];
};

/* Makes the tree of the places of a placement and sets *is_hierarchy to true.
 * Sets it to false and leaves *hierarchy empty if the tree would have too many
 * levels or too long codes. */
NW_MUST_CHECK nw_status nw_hierarchy_init(struct nw_hierarchy *hierarchy,
                                          const struct nw_placement *placement,
                                          bool *is_hierarchy);
void nw_hierarchy_fini(struct nw_hierarchy *hierarchy);

/* Makes the tree from the distances of consecutive slots: gap[s] is the
 * distance between slots s and s + 1, place[s] the place of slot s. Copies
 * place[]. Sets *is_hierarchy to true, or to false if the tree would have too
 * many levels or too long codes; *hierarchy is then empty. */
NW_MUST_CHECK nw_status nw_hierarchy_from_gaps(struct nw_hierarchy *hierarchy,
                                               const double *gap,
                                               const int32_t *place,
                                               int32_t slots,
                                               bool *is_hierarchy);

/* Returns the distance of two slots whose codes are a and b. */
static inline double nw_hierarchy_distance(const struct nw_hierarchy *hierarchy,
                                           uint64_t a, uint64_t b)
{
    return hierarchy->apart[63 - __builtin_clzll(((a ^ b) << 1) | 1)];
}

#endif

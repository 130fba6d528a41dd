/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of divisions over dragonfly groups. */
#ifndef NW_MAP_GROUPS_DRAGONFLY_INTERNAL_H
#define NW_MAP_GROUPS_DRAGONFLY_INTERNAL_H

#include "map/groups/division.h"

#define NW_DRAGONFLY_PAIRS_KEPT 3

/* State of the search. */
struct nw_dragonfly_search {
    struct nw_division of; /* its loads: seconds that the links between each
                              ordered pair of groups need for their traffic */
    const struct nw_objectives *objectives;
    double slow[NW_DIVISION_LOADS_MAX]; /* s per byte on the links between each
                                           ordered pair of groups */
    /* the best divisions, the best one first */
    struct nw_best_division best[NW_DRAGONFLY_PAIRS_KEPT];
};

static inline int nw_dragonfly_pair(const struct nw_dragonfly_search *work,
                                    int32_t from, int32_t to)
{
    return from * work->of.groups.parts + to;
}

/* Searches divisions and fills best[]. Ends after a fixed number of rounds or
 * with the budget. Returns false if the most loaded pair of groups needs at
 * least `below` seconds in every division. */
bool nw_dragonfly_anneal(struct nw_dragonfly_search *work, double below);

#endif

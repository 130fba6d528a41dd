/* SPDX-License-Identifier: BSD-3-Clause */
/* State shared by dragonfly.c and dragonfly_anneal.c. */
#ifndef NW_MAP_GROUPS_DRAGONFLY_INTERNAL_H
#define NW_MAP_GROUPS_DRAGONFLY_INTERNAL_H

#include "map/groups/division.h"

#define NW_DRAGONFLY_PAIRS_KEPT 3

/* State of one call of nw_slots_divide_dragonfly. */
struct nw_dragonfly_search {
    /* its loads are the seconds that the links of each ordered pair of groups
     * (nw_dragonfly_pair) need for the pair's traffic */
    struct nw_division of;
    const struct nw_objectives *objectives;
    /* time in s that all links of each ordered pair of groups together need for
     * a byte */
    double slow[NW_DIVISION_LOADS_MAX];
    /* the best different divisions, from best to worst */
    struct nw_best_division best[NW_DRAGONFLY_PAIRS_KEPT];
};

static inline int nw_dragonfly_pair(const struct nw_dragonfly_search *work,
                                    int32_t from, int32_t to)
{
    return from * work->of.groups.parts + to;
}

/* Searches divisions of the ranks over the groups and fills best[]. Ends after
 * a fixed number of rounds or with the budget, whose last, unfinished round
 * does not count. Returns false if the most loaded pair of groups needs at
 * least `below` seconds in every division. */
bool nw_dragonfly_anneal(struct nw_dragonfly_search *work, double below);

#endif

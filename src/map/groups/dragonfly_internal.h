/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of divisions over dragonfly groups. */
#ifndef NW_MAP_GROUPS_DRAGONFLY_INTERNAL_H
#define NW_MAP_GROUPS_DRAGONFLY_INTERNAL_H

#include "map/groups/division.h"

#define NW_DRAGONFLY_PAIRS_KEPT 3

/* State of the search. */
struct nw_dragonfly_search {
    struct nw_division of; /* its loads are the seconds that each ordered pair
                              of groups sends */
    const struct nw_objectives *objectives;
    double slow[NW_DIVISION_LOADS_MAX];                    /* s per byte of each
                                                              pair of groups */
    struct nw_best_division best[NW_DRAGONFLY_PAIRS_KEPT]; /* best divisions, in
                                                              order */
};

static inline int nw_dragonfly_pair(const struct nw_dragonfly_search *work,
                                    int32_t from, int32_t to)
{
    return from * work->of.groups.parts + to;
}

/* Searches divisions with the link speeds `slow` until the budget ends. Returns
 * false if no division has less than `below` seconds on its most loaded pair.
 */
bool nw_dragonfly_anneal(struct nw_dragonfly_search *work, double below);

#endif

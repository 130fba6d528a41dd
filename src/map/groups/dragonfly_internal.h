/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of divisions over dragonfly groups. */
#ifndef NW_MAP_GROUPS_DRAGONFLY_INTERNAL_H
#define NW_MAP_GROUPS_DRAGONFLY_INTERNAL_H

#include "map/groups/division.h"

#define NW_DRAGONFLY_PAIRS_MOST (NW_SWITCH_GROUPS_MAX * NW_SWITCH_GROUPS_MAX)
#define NW_DRAGONFLY_PAIRS_KEPT 3

struct nw_dragonfly_division {
    double most, mean; /* s */
    int32_t *part;     /* [ranks] */
};

struct nw_dragonfly_search {
    struct nw_division of;
    const struct nw_objectives *objectives;
    double slow[NW_DRAGONFLY_PAIRS_MOST],
        load[NW_DRAGONFLY_PAIRS_MOST]; /* s per byte, s */
    double extra[NW_DRAGONFLY_PAIRS_MOST];
    bool touched[NW_DRAGONFLY_PAIRS_MOST];
    int touch[NW_DRAGONFLY_PAIRS_MOST], touch_count;
    double scale, power, sum, energy, temperature;
    struct nw_dragonfly_division round,
        best[NW_DRAGONFLY_PAIRS_KEPT]; /* the best first */
};

static inline int nw_dragonfly_pair(const struct nw_dragonfly_search *work,
                                    int32_t from, int32_t to)
{
    return from * work->of.groups.parts + to;
}

/* Searches divisions by `slow` until its budget ends. False if none has less
 * than `below` s on its most loaded pair. */
bool nw_dragonfly_anneal(struct nw_dragonfly_search *work, double below);

#endif

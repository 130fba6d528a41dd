/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of divisions over groups share. */
#ifndef NW_MAP_GROUPS_DRAGONFLY_INTERNAL_H
#define NW_MAP_GROUPS_DRAGONFLY_INTERNAL_H

#include "map/groups/division.h"

#define NW_PAIRS_MOST (NW_PENS_MOST * NW_PENS_MOST)
#define NW_PAIRS_KEPT 3

struct nw_pairs_division {
    double most, mean; /* s */
    int32_t *part;     /* [ranks] */
};

struct nw_pairing {
    struct nw_penned of;
    const struct nw_aim *aim;
    double slow[NW_PAIRS_MOST], load[NW_PAIRS_MOST]; /* s a byte, s */
    double extra[NW_PAIRS_MOST];
    bool touched[NW_PAIRS_MOST];
    int touch[NW_PAIRS_MOST], touch_count;
    double scale, power, sum, energy, heat;
    struct nw_pairs_division round, best[NW_PAIRS_KEPT]; /* the best first */
};

static inline int nw_pair_of(const struct nw_pairing *work, int32_t from,
                             int32_t to)
{
    return from * work->of.pens.parts + to;
}

/* Searches divisions by `slow`, until the budget is at its end. False where
 * none has less than `below` s on its fullest pair. */
bool nw_pairs_divide(struct nw_pairing *work, double below);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the annealing of slots. */
#ifndef NW_MAP_CONGESTION_ANNEAL_INTERNAL_H
#define NW_MAP_CONGESTION_ANNEAL_INTERNAL_H

#include "base/random.h"
#include "map/congestion/objectives.h"

struct nw_budget;

struct congestion_search {
    struct nw_slots *slots;
    const struct nw_objectives *objectives;
    struct nw_budget *budget;
    struct nw_link_loads loads;
    struct nw_random random;
    int32_t *free_rank; /* [free_count] ranks that may move */
    int32_t free_count;
    int32_t *best; /* [2 x ranks] slots */
    double best_value[2];
    double best_beyond; /* the limits */
    double held;        /* s: what links may have, while settling */
    double base[2];     /* what energies are relative to */
    double energy;
    double highest; /* energy: what rounding is relative to */
    double temperature;
    double second; /* weight of the second objective beside the first */
    bool routes;   /* the first objective looks at links */
};

/* draw_moves.c */

bool nw_congestion_carries(const struct nw_link_loads *loads, uint32_t hop,
                           double full);

bool nw_congestion_draw_move(struct congestion_search *work,
                             struct nw_move *move);

bool nw_congestion_draw(struct congestion_search *work, struct nw_move *move);

void nw_congestion_end(struct congestion_search *work,
                       const struct nw_move *move, bool keep);

#endif

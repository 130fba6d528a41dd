/* SPDX-License-Identifier: BSD-3-Clause */
/* State shared by anneal.c and anneal_moves.c, which anneal an assignment of
 * ranks to slots. */
#ifndef NW_MAP_CONGESTION_ANNEAL_INTERNAL_H
#define NW_MAP_CONGESTION_ANNEAL_INTERNAL_H

#include "base/random.h"
#include "map/congestion/objectives.h"

struct nw_budget;

/* State of one call of nw_slots_anneal. */
struct congestion_search {
    struct nw_slots *slots;
    const struct nw_objectives *objectives;
    struct nw_budget *budget;
    struct nw_link_loads loads;
    struct nw_random random;
    int32_t *free_rank; /* [free_count] ranks that may move */
    int32_t free_count;
    int32_t *best; /* [2 x ranks] slots of the best assignment so far */
    double best_value[2];
    double best_beyond; /* fractions by which the best assignment exceeds the
                           caps on hop-bytes and on congestion, summed; 0:
                           within both */
    double held;    /* s: cap on the congestion of every link while the second
                       objective is annealed; 0 otherwise */
    double base[2]; /* initial values of the first and the second objective
                       (nw_objectives_smooth), by which the energy divides
                       them */
    double energy;
    double highest; /* largest energy so far; rounding errors are proportional
                       to it */
    double temperature;
    double second; /* weight of the second objective in the energy; the first
                      one has weight 1 */
    bool routes;   /* true: the first objective depends on link loads */
};

/* Fills *move with a random valid move; returns false if it found none. Defined
 * in anneal_moves.c. */
bool nw_congestion_draw_move(struct congestion_search *work,
                             struct nw_move *move);

#endif

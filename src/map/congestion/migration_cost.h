/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves with a cost: at a restart, a rank that is not displaced leaves its
 * place only if that shortens the predicted time by more than this cost. The
 * predicted time is that of all exchanges of the pattern together. */
#ifndef NW_MAP_CONGESTION_MIGRATION_COST_H
#define NW_MAP_CONGESTION_MIGRATION_COST_H

#include "map/congestion/slots.h"

/* Settings of nw_slots_move_at_cost. */
struct nw_move_cost {
    const bool *displaced; /* [ranks] true if the rank's former place is on a
                             lost node; the move of such a rank costs nothing */
    double each; /* s: the predicted exchange time must fall by more than this
                    for each rank that moves */
    bool whole;  /* true: the search exchanges two nodes with all their ranks,
                    never single ranks */
};

/* Lowers the sum of the predicted exchange time and of cost->each for every
 * rank that leaves its slots; displaced ranks cost nothing. Counts its trials
 * in the problem's budget. The caller finds the ranks that moved by comparing
 * slots before and after. The machine must have links. */
NW_MUST_CHECK nw_status nw_slots_move_at_cost(struct nw_slots *slots,
                                              const struct nw_move_cost *cost);

#endif

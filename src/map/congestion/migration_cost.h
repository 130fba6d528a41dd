/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves with a cost: at a restart, a rank leaves its place only if that
 * shortens the predicted time of an exchange by at least this cost. */
#ifndef NW_MAP_CONGESTION_MIGRATION_COST_H
#define NW_MAP_CONGESTION_MIGRATION_COST_H

#include "map/congestion/slots.h"

/* Settings of nw_slots_move_at_cost. */
struct nw_move_cost {
    const bool *homeless; /* [ranks] the rank's former place no longer exists */
    double each;          /* s: cost of moving one rank, which the move must
                             gain */
    bool whole;           /* only moves all ranks of a node together */
};

/* Lowers the sum of the predicted exchange time and the cost of the ranks that
 * are not at their place at the time of the call. Counts its trials in the
 * problem's budget. The caller finds the ranks that moved by comparing slots
 * before and after. The machine must have links. */
NW_MUST_CHECK nw_status nw_slots_move_at_cost(struct nw_slots *slots,
                                              const struct nw_move_cost *cost);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves that pay: at a restart, a rank leaves its place only for a gain in the
 * predicted time of an exchange. */
#ifndef NW_MAP_CONGESTION_MIGRATION_COST_H
#define NW_MAP_CONGESTION_MIGRATION_COST_H

#include "map/congestion/slots.h"

struct nw_move_cost {
    const bool *homeless; /* [ranks] the rank's own place is lost */
    double each;          /* s that the move of one rank must gain */
    bool whole;           /* move all ranks of a node together */
};

/* Lowers the predicted time plus the cost of the ranks that are not at their
 * place at the call. Counts its trials in the problem's budget. The ranks that
 * moved are those with another slot after the call. The machine has links. */
NW_MUST_CHECK nw_status nw_slots_move_at_cost(struct nw_slots *slots,
                                              const struct nw_move_cost *cost);

#endif

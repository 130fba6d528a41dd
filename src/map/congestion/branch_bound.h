/* SPDX-License-Identifier: BSD-3-Clause */
/* The proven best of few ranks, for any objective, GPUs and fixed ranks. */
#ifndef NW_MAP_CONGESTION_BRANCH_BOUND_H
#define NW_MAP_CONGESTION_BRANCH_BOUND_H

#include "map/congestion/objectives.h"

#define NW_BRANCH_BOUND_RANKS_MAX 64 /* ranks */

/* Lowers the aim from the seating as it is, which is never left worse, by
 * trying all, at most `seatings` of one rank (0: to the budget's end). Limits
 * of the aim beside its objectives are not looked at. *proven where all were
 * tried or cut for a reason. */
NW_MUST_CHECK nw_status nw_slots_branch_bound(
    struct nw_slots *slots, const struct nw_objectives *objectives,
    uint64_t seatings, bool *proven);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Branch and bound for few ranks: finds and proves the best assignment to slots
 * for any objective, with GPUs and fixed ranks. */
#ifndef NW_MAP_CONGESTION_BRANCH_BOUND_H
#define NW_MAP_CONGESTION_BRANCH_BOUND_H

#include "map/congestion/objectives.h"

/* largest number of ranks for which the search is used */
#define NW_BRANCH_BOUND_RANKS_MAX 64

/* Lowers the objectives; the assignment never becomes worse. Assigns ranks one
 * after the other and prunes branches by a bound. `assignments_max` is how many
 * assignments of one core or GPU to a slot may be tried (0: until the budget
 * ends). Ignores the caps in `objectives`. Sets *proven to whether every branch
 * was searched or pruned. */
NW_MUST_CHECK nw_status nw_slots_branch_bound(
    struct nw_slots *slots, const struct nw_objectives *objectives,
    uint64_t assignments_max, bool *proven);

#endif

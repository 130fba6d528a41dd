/* SPDX-License-Identifier: BSD-3-Clause */
/* A mapping problem with one rank per slot, for mappings with limits of load.
 */
#ifndef NW_MAP_CAPACITY_SLOTS_PROBLEM_H
#define NW_MAP_CAPACITY_SLOTS_PROBLEM_H

#include "map/capacity/several.h"

/* The problem with one rank per slot, and the input from which it is made. */
struct nw_slots_problem {
    struct nw_several *several;
    bool per_element_several; /* an element takes several ranks, each on a slot
                                 of its own */
    const nw_mapping *start;  /* the initial solution; borrowed; NULL: none */
    struct nw_problem problem;
    int64_t *limit; /* [core units]; NULL if an element takes several ranks */
};

/* Makes the problem; the caller has set the first three fields. The caller
 * calls nw_slots_problem_fini, also after a failure. */
NW_MUST_CHECK nw_status nw_slots_problem_init(struct nw_slots_problem *work);
void nw_slots_problem_fini(struct nw_slots_problem *work);

#endif

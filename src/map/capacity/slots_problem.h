/* SPDX-License-Identifier: BSD-3-Clause */
/* The problem of one rank per slot, for mappings with limits of load. */
#ifndef NW_MAP_CAPACITY_SLOTS_PROBLEM_H
#define NW_MAP_CAPACITY_SLOTS_PROBLEM_H

#include "map/capacity/several.h"

struct nw_slots_problem {
    struct nw_several *several;
    bool per_element_several; /* ranks on an element */
    const nw_mapping *start;  /* the initial solution; borrowed; NULL: none */
    struct nw_problem problem;
    int64_t *limit; /* [core units]; NULL if an element takes several ranks */
};

/* Makes the problem; the first three fields are set. Fini also after a failure.
 */
NW_MUST_CHECK nw_status nw_slots_problem_init(struct nw_slots_problem *work);
void nw_slots_problem_fini(struct nw_slots_problem *work);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A mapping problem with one rank per slot, for several ranks per element or
 * for limits of load. */
#ifndef NW_MAP_CAPACITY_SLOTS_PROBLEM_H
#define NW_MAP_CAPACITY_SLOTS_PROBLEM_H

#include "map/capacity/several.h"

/* The problem with one rank per slot, and the input from which it is made. */
struct nw_slots_problem {
    struct nw_several *several;
    /* true: the options allow several ranks on an element, each on a slot of
     * its own; false: one rank, with a limit of load */
    bool per_element_several;
    const nw_mapping *start; /* the initial solution; borrowed; NULL: none */
    struct nw_problem problem;
    int64_t *limit; /* [core units] largest load; NULL if an element takes
                       several ranks */
};

/* Makes the problem; the caller has set the fields above `problem`. The caller
 * calls nw_slots_problem_fini, also after a failure. */
NW_MUST_CHECK nw_status nw_slots_problem_init(struct nw_slots_problem *work);
void nw_slots_problem_fini(struct nw_slots_problem *work);

#endif

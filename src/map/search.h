/* SPDX-License-Identifier: BSD-3-Clause */
/* The searches of whole answers, GPUs and routes included, as algorithms and
 * as the last part of auto. */
#ifndef NW_MAP_SEARCH_H
#define NW_MAP_SEARCH_H

#include "map/algorithm.h"

/* `refine`, `anneal`, `tabu` and `exact`, from --from or the default. */
nw_status nw_run_search(const struct nw_algorithm *algorithm,
                        const struct nw_problem *problem,
                        struct nw_answer *answer, struct nw_map_report *report);

/* True where the elements are few enough for the dense searches. */
bool nw_search_is_small(const struct nw_problem *problem);

/* Lowers what auto chose, by the search that suits the problem. `guard` is
 * what a careful answer does not pass, or NULL. */
NW_MUST_CHECK nw_status nw_candidate_improve(const struct nw_problem *problem,
                                             struct nw_map_report *report,
                                             const double guard[3],
                                             struct nw_candidate *best);

#endif

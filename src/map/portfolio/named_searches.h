/* SPDX-License-Identifier: BSD-3-Clause */
/* The searches of whole answers, GPUs and routes included, as algorithms. */
#ifndef NW_MAP_PORTFOLIO_NAMED_SEARCHES_H
#define NW_MAP_PORTFOLIO_NAMED_SEARCHES_H

#include "map/portfolio/algorithm.h"
#include "map/congestion/slots.h"

/* `refine`, `anneal`, `tabu` and `exact`, from --from or the default. */
nw_status nw_run_search(const struct nw_algorithm *algorithm,
                        const struct nw_problem *problem,
                        struct nw_answer *answer, struct nw_map_report *report);

#define NW_EXACT_MOST 12      /* elements whose optimum auto proves */
#define NW_EXACT_NODES 200000 /* seatings it looks at for that */

/* So few elements that auto finds the best for any objective. */
bool nw_search_is_tiny(const struct nw_problem *problem);

/* True where the elements are few enough for the dense searches. */
bool nw_search_is_small(const struct nw_problem *problem);
/* True where a dense search knows all of the problem; all but the second
 * objective. */
bool nw_search_fits_qap(const struct nw_slots *slots);
bool nw_search_fits_qap_first(const struct nw_slots *slots);

/* The options' start, which leaves nothing open, or the default; into an answer
 * that is empty. NW_EINVAL where the start is none, as
 * nw_answer_check_complete.
 */
NW_MUST_CHECK nw_status nw_search_initial(const struct nw_problem *problem,
                                          struct nw_answer *answer);

/* Lets GPUs be remote where the options do. */
NW_MUST_CHECK nw_status nw_search_allow_remote(const struct nw_problem *problem,
                                               struct nw_answer *answer);

#endif

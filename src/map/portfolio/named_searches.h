/* SPDX-License-Identifier: BSD-3-Clause */
/* Searches from a complete answer that consider GPUs and routes, as algorithms.
 */
#ifndef NW_MAP_PORTFOLIO_NAMED_SEARCHES_H
#define NW_MAP_PORTFOLIO_NAMED_SEARCHES_H

#include "map/portfolio/algorithm.h"
#include "map/congestion/slots.h"
#include "map/common/parameters.h"

/* Annealing, tabu search, proof of the best, embedding of a grid by digits, and
 * descent by swaps, from a complete assignment. */
nw_slots_search nw_search_anneal, nw_search_tabu, nw_search_exact,
    nw_search_fold, nw_search_descend;

/* Returns true if the problem is so small that auto proves the best mapping for
 * any objective. */
bool nw_search_is_tiny(const struct nw_problem *problem);

/* Returns true if there are few enough elements for the QAP searches. */
bool nw_search_is_small(const struct nw_problem *problem);
/* nw_search_fits_qap returns true if a QAP search covers the whole problem;
 * nw_search_fits_qap_first ignores the second objective. */
bool nw_search_fits_qap(const struct nw_slots *slots);
bool nw_search_fits_qap_first(const struct nw_slots *slots);

/* Fills an empty answer with the initial mapping of the options, which must be
 * complete, or with the default mapping. Returns NW_EINVAL as
 * nw_answer_check_complete does. */
NW_MUST_CHECK nw_status nw_search_initial(const struct nw_problem *problem,
                                          struct nw_answer *answer);

/* Allows GPUs on other nodes in the answer if the options do. */
NW_MUST_CHECK nw_status nw_search_allow_remote(const struct nw_problem *problem,
                                               struct nw_answer *answer);

#endif

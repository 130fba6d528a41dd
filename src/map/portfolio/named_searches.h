/* SPDX-License-Identifier: BSD-3-Clause */
/* Searches that begin from a complete answer and consider GPUs and routes. The
 * table of algorithms names them. */
#ifndef NW_MAP_PORTFOLIO_NAMED_SEARCHES_H
#define NW_MAP_PORTFOLIO_NAMED_SEARCHES_H

#include "map/portfolio/algorithm.h"
#include "map/congestion/slots.h"
#include "map/common/parameters.h"

/* Searches from a complete assignment. Anneal: simulated annealing. Tabu: tabu
 * search, or annealing unless the problem is a small QAP. Exact: proof of the
 * best assignment. Fold: embedding of a grid by digits. Descend: descent by
 * swaps, or a proof if the problem is a tiny QAP. */
nw_slots_search nw_search_anneal, nw_search_tabu, nw_search_exact,
    nw_search_fold, nw_search_descend;

/* Returns true if the problem is so small that auto proves the best mapping for
 * any objective, unless the effort is "fast". */
bool nw_search_is_tiny(const struct nw_problem *problem);

/* Returns true if there are few enough core units for the QAP searches. */
bool nw_search_is_small(const struct nw_problem *problem);
/* Returns true if a QAP search covers the whole problem, except for its second
 * objective. */
bool nw_search_fits_qap_first(const struct nw_slots *slots);

/* Replaces an answer, which may be zeroed, by the mapping of --from, which must
 * be complete, or without it by the default mapping. Returns NW_EINVAL if a
 * rank has no core or GPU that it needs, is not on the host to which it is
 * fixed, or if a core, GPU or host has too many ranks. */
NW_MUST_CHECK nw_status nw_search_initial(const struct nw_problem *problem,
                                          struct nw_answer *answer);

/* Allows GPUs on other nodes than their ranks in the answer if the options do.
 */
NW_MUST_CHECK nw_status nw_search_allow_remote(const struct nw_problem *problem,
                                               struct nw_answer *answer);

#endif

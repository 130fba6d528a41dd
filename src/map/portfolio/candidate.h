/* SPDX-License-Identifier: BSD-3-Clause */
/* A mapping and the figures it is judged by. */
#ifndef NW_MAP_PORTFOLIO_CANDIDATE_H
#define NW_MAP_PORTFOLIO_CANDIDATE_H

#include "map/portfolio/algorithm.h"

struct nw_candidate {
    nw_mapping *mapping; /* owned */
    struct nw_cost cost; /* owned */
    const char *algorithm;
    bool approximate; /* found on an approximation of the machine */
    bool grid_found;  /* the search found a grid in the pattern */
    double figure[2]; /* the objective; what decides between equals */
    double guard[3];  /* hop-bytes; congestion (0: no links); where answers
                         are careful, s: when an exchange ends */
};
void nw_candidate_fini(struct nw_candidate *candidate);
NW_MUST_CHECK nw_status nw_candidate_from_answer(
    const struct nw_problem *problem, const struct nw_answer *answer,
    const char *algorithm, struct nw_candidate *out);
/* Runs an algorithm. The row must have a function `run`. */
NW_MUST_CHECK nw_status nw_candidate_run(const struct nw_algorithm *algorithm,
                                         const struct nw_problem *problem,
                                         struct nw_map_report *report,
                                         struct nw_candidate *out);
/* True where a is better than b: in the objective, or equal there (relative
 * 1e-9) and better in the other figure. */
bool nw_candidate_better(const struct nw_candidate *a,
                         const struct nw_candidate *b);
/* No more than those; NULL: any. */
bool nw_candidate_within(const struct nw_candidate *candidate,
                         const double guard[3]);
/* Puts `other` in the place of *best if `is_better`, and frees the one that is
 * not kept. */
void nw_candidate_replace(struct nw_candidate *best, struct nw_candidate *other,
                          bool is_better);
/* Progress reports this mapping as the best one so far, unless the problem is
 * that of a search with another objective than the call's. */
void nw_candidate_tell(const struct nw_candidate *best,
                       const struct nw_problem *problem);
/* Brings each rank's core, GPU and NIC near each other as long as no figure
 * gets worse; moves only the GPU if cores stay. Not for mappings with remote
 * GPUs. cores_near_gpus.c */
NW_MUST_CHECK nw_status nw_cores_near_gpus(const struct nw_problem *problem,
                                           bool cores_stay,
                                           struct nw_candidate *best);
/* exchange_makespan.c; `cost` is the mapping's. */
NW_MUST_CHECK nw_status nw_exchange_makespan(const struct nw_problem *problem,
                                             const nw_mapping *mapping,
                                             const struct nw_cost *cost,
                                             double *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A candidate: a mapping and the figures by which mappings are compared. */
#ifndef NW_MAP_PORTFOLIO_CANDIDATE_H
#define NW_MAP_PORTFOLIO_CANDIDATE_H

#include "map/portfolio/algorithm.h"

/* A mapping, its cost and its figures. */
struct nw_candidate {
    nw_mapping *mapping; /* owned, or NULL */
    struct nw_cost cost; /* cost of the mapping; owned */
    const char *algorithm;
    bool approximate; /* the search used an approximation of the machine */
    bool grid_found;  /* the search found a grid in the pattern */
    /* value of the objective; value of the second objective, which decides
     * between candidates with equal first ones */
    double figure[2];
    /* figures that the option `careful` limits: hop-bytes; congestion in s (0:
     * no links); only with this option: end of an exchange in s */
    double guard[3];
};
void nw_candidate_fini(struct nw_candidate *candidate);
NW_MUST_CHECK nw_status nw_candidate_from_answer(
    const struct nw_problem *problem, const struct nw_answer *answer,
    const char *algorithm, struct nw_candidate *out);
/* Runs an algorithm, which must have a function `run`, and makes a candidate of
 * its answer. The first run of the default mapping also fills
 * problem->standard, if that is requested. */
NW_MUST_CHECK nw_status nw_candidate_run(const struct nw_algorithm *algorithm,
                                         const struct nw_problem *problem,
                                         struct nw_map_report *report,
                                         struct nw_candidate *out);
/* Returns true if a is better than b: its objective is lower, or it is equal
 * (relative 1e-9) and its second objective is lower. */
bool nw_candidate_better(const struct nw_candidate *a,
                         const struct nw_candidate *b);
/* Returns true if none of the three values in candidate->guard exceeds that in
 * `guard` by more than rounding errors, or if `guard` is NULL. */
bool nw_candidate_within(const struct nw_candidate *candidate,
                         const double guard[3]);
static inline void nw_candidate_swap(struct nw_candidate *a,
                                     struct nw_candidate *b)
{
    struct nw_candidate c = *a;

    *a = *b;
    *b = c;
}
/* Replaces *best by `other` if `is_better`; frees the candidate that is not
 * kept. */
void nw_candidate_replace(struct nw_candidate *best, struct nw_candidate *other,
                          bool is_better);
/* Replaces the mapping, its cost and the algorithm of an answer by those of the
 * candidate, which becomes empty. */
void nw_candidate_to_answer(struct nw_candidate *candidate,
                            struct nw_map_answer *answer);
/* Lets the progress report show the objective of this mapping as the best one
 * so far, unless the present search has another objective than the user's call.
 */
void nw_candidate_tell(const struct nw_candidate *best,
                       const struct nw_problem *problem);
/* Moves cores and GPUs of *best within their nodes so that each rank's core,
 * GPU and NIC are nearer to each other and no cost figure gets worse; moves
 * only GPUs if `cores_stay`. Does nothing for mappings that allow GPUs on other
 * nodes. Defined in cores_near_gpus.c. */
NW_MUST_CHECK nw_status nw_cores_near_gpus(const struct nw_problem *problem,
                                           bool cores_stay,
                                           struct nw_candidate *best);
/* Estimates when the last message of an exchange arrives, in seconds after its
 * start. `cost` is the cost of the mapping. Defined in exchange_makespan.c. */
NW_MUST_CHECK nw_status nw_exchange_makespan(const struct nw_problem *problem,
                                             const nw_mapping *mapping,
                                             const struct nw_cost *cost,
                                             double *out);

/* The algorithm `auto`: runs the cheap algorithms, then improves the best of
 * their results by the search that suits the problem. *out is the best mapping
 * found. Defined in auto.c. */
NW_MUST_CHECK nw_status nw_choose_best(const struct nw_problem *problem,
                                       struct nw_map_report *report,
                                       struct nw_candidate *out);

#endif

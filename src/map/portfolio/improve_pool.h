/* SPDX-License-Identifier: BSD-3-Clause */
/* The last part of auto: searches of whole answers from the cheap ones. */
#ifndef NW_MAP_PORTFOLIO_IMPROVE_POOL_H
#define NW_MAP_PORTFOLIO_IMPROVE_POOL_H

#include "map/portfolio/algorithm.h"

/* Answers that were looked at, beside the best. */
#define NW_POOL_MOST 10
struct nw_pool {
    struct nw_candidate member[NW_POOL_MOST];
    int count;
    double standard; /* the default's figure; or MAGC's, Scotch's where less */
};
/* Takes the candidate, or frees it where its like is there. */
void nw_pool_take(struct nw_pool *pool, struct nw_candidate *candidate);
void nw_pool_fini(struct nw_pool *pool);

/* Lowers what auto chose, by the search that suits the problem. `guard` is
 * what a careful answer does not pass, or NULL. */
NW_MUST_CHECK nw_status nw_candidate_improve(const struct nw_problem *problem,
                                             struct nw_map_report *report,
                                             const double guard[3],
                                             const struct nw_pool *pool,
                                             struct nw_candidate *best);

#endif

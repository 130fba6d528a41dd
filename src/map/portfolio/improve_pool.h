/* SPDX-License-Identifier: BSD-3-Clause */
/* The last part of auto: searches from the answers of the cheap algorithms. */
#ifndef NW_MAP_PORTFOLIO_IMPROVE_POOL_H
#define NW_MAP_PORTFOLIO_IMPROVE_POOL_H

#include "map/portfolio/candidate.h"

/* Answers of the cheap algorithms, beside the best. */
#define NW_POOL_MOST 10
struct nw_pool {
    struct nw_candidate member[NW_POOL_MOST];
    int count;
    bool approximate;    /* one was found on an approximation of the machine */
    double standard;     /* the least figure of the default, MAGC and Scotch */
    const double *guard; /* [3] figures that a careful answer must not exceed;
                            NULL: none. Borrowed. */
    struct nw_candidate nearest; /* if links count: the best in hop-bytes;
                                    otherwise empty */
};
/* Takes the candidate, or frees it if an equal one is there. */
void nw_pool_take(struct nw_pool *pool, struct nw_candidate *candidate);
void nw_pool_fini(struct nw_pool *pool);

/* Lowers the cost of *best by the search that suits the problem. */
NW_MUST_CHECK nw_status nw_candidate_improve(const struct nw_problem *problem,
                                             struct nw_map_report *report,
                                             const struct nw_pool *pool,
                                             struct nw_candidate *best);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The last stage of the algorithm `auto`: searches from the results of the
 * cheap algorithms. */
#ifndef NW_MAP_PORTFOLIO_IMPROVE_POOL_H
#define NW_MAP_PORTFOLIO_IMPROVE_POOL_H

#include "map/portfolio/candidate.h"

/* Most candidates in a pool, which holds the results of the cheap algorithms
 * except the best one. */
#define NW_POOL_MOST 10
/* The results of the cheap algorithms. */
struct nw_pool {
    struct nw_candidate member[NW_POOL_MOST];
    int count;
    bool approximate;    /* one of the searches used an approximation of the
                            machine */
    double standard;     /* smallest objective of the default mapping, MAGC and
                            Scotch */
    const double *guard; /* [3] figures that a careful answer must not exceed;
                            borrowed; NULL: none */
    /* candidate with the fewest hop-bytes if the objective depends on links;
     * otherwise empty */
    struct nw_candidate nearest;
};
/* Moves the candidate into the pool, or frees it if the pool holds an equal one
 * or is full. */
void nw_pool_take(struct nw_pool *pool, struct nw_candidate *candidate);
void nw_pool_fini(struct nw_pool *pool);

/* Improves *best by the search that suits the problem. */
NW_MUST_CHECK nw_status nw_candidate_improve(const struct nw_problem *problem,
                                             struct nw_map_report *report,
                                             const struct nw_pool *pool,
                                             struct nw_candidate *best);

#endif

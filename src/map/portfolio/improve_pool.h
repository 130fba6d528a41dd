/* SPDX-License-Identifier: BSD-3-Clause */
/* The last stage of the algorithm `auto`: searches from the results of the
 * cheap algorithms. */
#ifndef NW_MAP_PORTFOLIO_IMPROVE_POOL_H
#define NW_MAP_PORTFOLIO_IMPROVE_POOL_H

#include "map/portfolio/candidate.h"

/* Most candidates in a pool. */
#define NW_POOL_MOST 10
/* The results of the cheap algorithms except the best one. */
struct nw_pool {
    struct nw_candidate member[NW_POOL_MOST];
    int count;
    bool approximate; /* an algorithm or search used an approximation of the
                         machine */
    double standard;  /* objective that the answer should reach: the smallest of
                         the default mapping and all cheap algorithms except
                         `partition`; with `careful`, that of the default
                         mapping */
    /* [3] limits of the option `careful`: hop-bytes, congestion (s), end of an
     * exchange (s); borrowed; NULL: none */
    const double *guard;
    /* candidate with the fewest hop-bytes if the objective depends on links;
     * otherwise empty */
    struct nw_candidate nearest;
};
/* Moves the candidate into the pool, or frees it if the pool is full or holds a
 * candidate with the same objective and second objective. *candidate becomes
 * empty. */
void nw_pool_take(struct nw_pool *pool, struct nw_candidate *candidate);
void nw_pool_fini(struct nw_pool *pool);

/* Improves *best by the search that suits the problem. The objective of *best
 * may rise, but not above pool->standard, if that lowers hop-bytes that exceed
 * their limit. */
NW_MUST_CHECK nw_status nw_candidate_improve(const struct nw_problem *problem,
                                             struct nw_map_report *report,
                                             const struct nw_pool *pool,
                                             struct nw_candidate *best);

#endif

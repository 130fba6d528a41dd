/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files that improve the best candidate. */
#ifndef NW_MAP_PORTFOLIO_IMPROVE_INTERNAL_H
#define NW_MAP_PORTFOLIO_IMPROVE_INTERNAL_H

#include "map/congestion/slots.h"
#include "map/portfolio/improve_pool.h"

struct improve_work {
    const struct nw_problem *problem;
    struct nw_map_report *report;
    const double *guard; /* or NULL */
    double hop_limit;
    double hop_bytes;              /* of the start of the search */
    double standard;               /* the pool's */
    struct nw_candidate near, far; /* the best that were not taken */
    double below;                  /* the first lead's, as far as it is near */
    nw_status (*run)(struct improve_work *, struct nw_slots *);
    const char *name;
};

/* improve_runs.c */

NW_MUST_CHECK nw_status nw_improve_prove(struct improve_work *work,
                                         struct nw_slots *slots);

NW_MUST_CHECK nw_status nw_improve_exchange_nodes(struct improve_work *work,
                                                  struct nw_slots *slots);

/* The name stays empty where there is nothing to fold. */
NW_MUST_CHECK nw_status nw_improve_embed_digits(struct improve_work *work,
                                                struct nw_slots *slots);

/* Over groups that have links of their own, or else over switches; the name
 * stays empty where no such division is better. */
NW_MUST_CHECK nw_status nw_improve_divide(struct improve_work *work,
                                          struct nw_slots *slots);

/* Whole nodes first, once; then ranks. */
NW_MUST_CHECK nw_status nw_improve_search_slots(struct improve_work *work,
                                                struct nw_slots *slots);

/* With latency second, which holds to fewer places than hop-bytes do. */
NW_MUST_CHECK nw_status nw_improve_search_wide(struct improve_work *work,
                                               struct nw_slots *slots);

NW_MUST_CHECK nw_status nw_improve_tighten(struct improve_work *work,
                                           struct nw_slots *slots);

/* Fewer hop-bytes at the same congestion; less of that as far as it is near. */
NW_MUST_CHECK nw_status nw_improve_cap_second(struct improve_work *work,
                                              struct nw_slots *slots);

/* The same at any congestion below the standard, towards what is near. */
NW_MUST_CHECK nw_status nw_improve_yield(struct improve_work *work,
                                         struct nw_slots *slots);

/* A guard may refuse the result of a QAP search, which does not know the second
 * objective. */
NW_MUST_CHECK nw_status nw_improve_search(struct improve_work *work,
                                          struct nw_slots *slots);

#endif

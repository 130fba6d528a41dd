/* SPDX-License-Identifier: BSD-3-Clause */
/* State shared by improve_pool.c and improve_runs.c, which improve the best
 * candidate. */
#ifndef NW_MAP_PORTFOLIO_IMPROVE_INTERNAL_H
#define NW_MAP_PORTFOLIO_IMPROVE_INTERNAL_H

#include "map/congestion/slots.h"
#include "map/portfolio/improve_pool.h"

/* State of the searches from the candidates. */
struct improve_work {
    const struct nw_problem *problem;
    struct nw_map_report *report;
    /* [3] figures that the result must not exceed, or NULL */
    const double *guard;
    double hop_limit;              /* cap on hop-bytes; 0: none */
    double hop_bytes;              /* hop-bytes of the mapping that the search
                                      starts from */
    double standard;               /* nw_pool.standard */
    struct nw_candidate near, far; /* best candidates that were not taken:
                                      within hop_limit, and beyond it */
    double below;                  /* objective of the first lead if its
                                      hop-bytes are within hop_limit */
    nw_status (*run)(struct improve_work *, struct nw_slots *);
    const char *name;
};

/* improve_runs.c */

NW_MUST_CHECK nw_status nw_improve_prove(struct improve_work *work,
                                         struct nw_slots *slots);

NW_MUST_CHECK nw_status nw_improve_exchange_nodes(struct improve_work *work,
                                                  struct nw_slots *slots);

/* Embeds the grid of the ranks by digits. work->name is NULL if no embedding
 * was found. */
NW_MUST_CHECK nw_status nw_improve_embed_digits(struct improve_work *work,
                                                struct nw_slots *slots);

/* Divides ranks over dragonfly groups, or else over leaf switches. work->name
 * is NULL if no better division was found. */
NW_MUST_CHECK nw_status nw_improve_divide(struct improve_work *work,
                                          struct nw_slots *slots);

/* Swaps whole nodes first, then moves single ranks. */
NW_MUST_CHECK nw_status nw_improve_search_slots(struct improve_work *work,
                                                struct nw_slots *slots);

/* Anneals with latency as second objective, which restricts places less than
 * hop-bytes do. */
NW_MUST_CHECK nw_status nw_improve_search_wide(struct improve_work *work,
                                               struct nw_slots *slots);

NW_MUST_CHECK nw_status nw_improve_tighten(struct improve_work *work,
                                           struct nw_slots *slots);

/* Lowers hop-bytes at the present congestion, down to the start's or to
 * hop_limit. */
NW_MUST_CHECK nw_status nw_improve_cap_second(struct improve_work *work,
                                              struct nw_slots *slots);

/* Lowers hop-bytes towards hop_limit, at any congestion below the pool's
 * standard. */
NW_MUST_CHECK nw_status nw_improve_yield(struct improve_work *work,
                                         struct nw_slots *slots);

/* Runs a QAP search for a small problem without a guard, otherwise
 * nw_improve_search_slots. A guard might reject the result of a QAP search,
 * which ignores the second objective. */
NW_MUST_CHECK nw_status nw_improve_search(struct improve_work *work,
                                          struct nw_slots *slots);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* State shared by improve_pool.c and improve_runs.c, which improve the best
 * candidate. */
#ifndef NW_MAP_PORTFOLIO_IMPROVE_INTERNAL_H
#define NW_MAP_PORTFOLIO_IMPROVE_INTERNAL_H

#include "map/congestion/slots.h"
#include "map/portfolio/improve_pool.h"

/* State of the searches that begin from candidates. */
struct improve_work {
    const struct nw_problem *problem;
    struct nw_map_report *report;
    /* [3] limits of the option `careful` for hop-bytes, congestion (s) and end
     * of an exchange (s); NULL: none */
    const double *guard;
    double hop_limit; /* cap on hop-bytes; 0: none */
    double hop_bytes; /* hop-bytes of the mapping from which the present search
                         begins */
    /* objective that the answer should reach: nw_pool.standard */
    double standard;
    /* best candidates other than the answer so far: with hop-bytes within
     * hop_limit (near) and beyond it by at most the factor far_beyond (far) */
    struct nw_candidate near, far;
    double below; /* objective of the best start of the long search if its
                     hop-bytes are within hop_limit, otherwise infinity */
    /* out: algorithm of the present search, at first "anneal"; NULL: the search
     * found nothing */
    const char *name;
};

/* The searches of improve_runs.c. Each changes the assignment of `slots` and
 * may set work->name. */
typedef nw_status improve_search(struct improve_work *work,
                                 struct nw_slots *slots);
improve_search nw_improve_prove, nw_improve_exchange_nodes, nw_improve_tighten;
/* Embeds the grid of the ranks by digits (digit_embedding.h). */
improve_search nw_improve_embed_digits;
/* Divides the ranks over dragonfly groups, or else over leaf switches. */
improve_search nw_improve_divide;
/* Swaps whole nodes first, then moves single ranks. With the effort "fast" it
 * only moves single ranks, and only downhill. */
improve_search nw_improve_search_slots;
/* Anneals with latency as second objective. That allows more assignments than
 * hop-bytes as second objective do. */
improve_search nw_improve_search_wide;
/* Lowers hop-bytes while no link may have more congestion than the present
 * maximum. Hop-bytes are capped at hop_limit or, if that is larger, at the
 * initial hop-bytes. */
improve_search nw_improve_cap_second;
/* Lowers hop-bytes to the cap hop_limit, while the congestion of every link
 * stays below work->standard. */
improve_search nw_improve_yield;
/* Runs a QAP search if the problem is small and fits a QAP, `lean` is not set,
 * and the option `careful` sets no limits. Runs nw_improve_search_slots in all
 * other cases, and after a QAP search if there is a second objective. The
 * result of a QAP search might exceed these limits, because it ignores the
 * second objective. */
improve_search nw_improve_search;

#endif

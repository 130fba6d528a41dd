/* SPDX-License-Identifier: BSD-3-Clause */
/* The two objectives of a search, which lowers the second objective without
 * worsening the first one, and the caps that it keeps. */
#ifndef NW_MAP_CONGESTION_OBJECTIVES_H
#define NW_MAP_CONGESTION_OBJECTIVES_H

#include "map/congestion/link_loads.h"

/* The objectives and their caps. */
struct nw_objectives {
    enum nw_objective first, second;
    double hop_limit;  /* cap on hop-bytes; 0: none */
    double most_limit; /* s: cap on congestion; 0: none */
    /* s: congestion that the assignment may reach while the second objective is
     * lowered; 0: the present congestion */
    double settle_at;
};

/* Returns the objectives that the options name. The default second objective is
 * hop-bytes; if hop-bytes is the first, it is congestion (latency on machines
 * without links). */
struct nw_objectives
nw_objectives_from_options(const struct nw_problem *problem);
struct nw_link_loads_wants
nw_objectives_wants(const struct nw_objectives *objectives);

/* Returns the value of an objective for figures of an assignment; `most` is the
 * largest congestion in seconds. The time of an exchange is `most` plus the
 * summed congestion of all links and the summed latency, both divided by the
 * number of ranks. */
double nw_objectives_combine(const struct nw_slots *slots, double most,
                             const struct nw_load_figures *figures,
                             enum nw_objective objective);
/* Returns the value of an objective for the present assignment. */
double nw_objectives_value(const struct nw_link_loads *loads,
                           enum nw_objective objective);
/* Returns the value of an objective for the present assignment or, if `after`
 * is set, as if the move on trial were made. For congestion, also as a part of
 * the time, the eighth root of the sum of eighth powers over all links replaces
 * the maximum, because it falls whenever a loaded link is relieved. */
double nw_objectives_smooth(const struct nw_link_loads *loads,
                            enum nw_objective objective, bool after);

/* Returns the fraction by which `value` exceeds its cap; 0 if it does not, or
 * if `cap` is 0: there is no cap. */
static inline double nw_objectives_excess(double value, double cap)
{
    return cap > 0 ? fmax(0, value / cap - 1) : 0;
}

/* How a search works. DESCENT: accepts improvements only. BRIEF, FULL: short or
 * long annealing. TIGHTEN: annealing towards a lower target of congestion, in
 * which the excess of all links over the target replaces the first objective;
 * repeated with a still lower target after each success. CAP_SECOND: annealing
 * of the second objective, in which the excess of all links over the present
 * largest congestion (or settle_at, if larger) replaces the first one. */
enum nw_search_depth {
    NW_SEARCH_DESCENT,
    NW_SEARCH_BRIEF,
    NW_SEARCH_FULL,
    NW_SEARCH_TIGHTEN,
    NW_SEARCH_CAP_SECOND
};

/* Lowers the objectives; the assignment never becomes worse. If an assignment
 * exceeds a cap, a smaller excess is better, whatever the objectives. Counts
 * its trials in the problem's budget. */
NW_MUST_CHECK nw_status nw_slots_anneal(struct nw_slots *slots,
                                        const struct nw_objectives *objectives,
                                        enum nw_search_depth depth);

#endif

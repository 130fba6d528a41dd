/* SPDX-License-Identifier: BSD-3-Clause */
/* The objectives of a search: the second one is lowered without worsening the
 * first. */
#ifndef NW_MAP_CONGESTION_OBJECTIVES_H
#define NW_MAP_CONGESTION_OBJECTIVES_H

#include "map/congestion/link_loads.h"

struct nw_objectives {
    enum nw_objective first, second;
    double hop_limit;  /* cap on hop-bytes; 0: none */
    double most_limit; /* s: cap on congestion; 0: none */
    double settle_at;  /* s: congestion that lowering the second objective may
                          leave; 0: the present one */
};

/* Reads the options. The default second objective is hop-bytes, or beside
 * hop-bytes congestion (latency on machines without links). */
struct nw_objectives
nw_objectives_from_options(const struct nw_problem *problem);
struct nw_link_loads_wants
nw_objectives_wants(const struct nw_objectives *objectives);

/* The present value of an objective. */
double nw_objectives_value(const struct nw_link_loads *loads,
                           enum nw_objective objective);
/* The value after a trial if `after`. The mean of eighth powers replaces the
 * maximum, because it falls with every relieved link. */
double nw_objectives_smooth(const struct nw_link_loads *loads,
                            enum nw_objective objective, bool after);

/* How much work a search does. DESCENT: accepts improvements only. BRIEF, FULL:
 * annealing, short or long. TIGHTEN: annealing towards a lower target of
 * congestion, by the excess over the target alone, repeated while a lower
 * target is met. CAP_SECOND: annealing of the second objective while links stay
 * under the congestion that is allowed. */
enum nw_search_depth {
    NW_SEARCH_DESCENT,
    NW_SEARCH_BRIEF,
    NW_SEARCH_FULL,
    NW_SEARCH_TIGHTEN,
    NW_SEARCH_CAP_SECOND
};

/* Lowers the objectives; the assignment never becomes worse. Counts its trials
 * in the problem's budget. */
NW_MUST_CHECK nw_status nw_slots_anneal(struct nw_slots *slots,
                                        const struct nw_objectives *objectives,
                                        enum nw_search_depth depth);

#endif

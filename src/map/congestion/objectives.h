/* SPDX-License-Identifier: BSD-3-Clause */
/* What a search lowers: an objective, then another without worsening the
 * first. */
#ifndef NW_MAP_CONGESTION_OBJECTIVES_H
#define NW_MAP_CONGESTION_OBJECTIVES_H

#include "map/congestion/link_loads.h"

struct nw_objectives {
    enum nw_objective first, second;
    double hop_limit;  /* hop-bytes beyond which it is no bargain; 0: none */
    double most_limit; /* the same of congestion, s */
    double settle_at;  /* s: what settling leaves links; 0: what they have */
};

/* From the options; the second is hop-bytes where none is named, congestion
 * (where there are links, else latency) beside hop-bytes. */
struct nw_objectives
nw_objectives_from_options(const struct nw_problem *problem);
struct nw_link_loads_wants
nw_objectives_wants(const struct nw_objectives *objectives);

/* An objective of the ledger as it is. */
double nw_objectives_value(const struct nw_link_loads *loads,
                           enum nw_objective objective);
/* The same after a trial, the maximum replaced by a mean of eighth powers,
 * which tells every relief. */
double nw_objectives_smooth(const struct nw_link_loads *loads,
                            enum nw_objective objective, bool after);

/* How much a search is worth: downhill alone, or annealed, a little or in
 * full; or, in congestion, annealed towards a step less of it, by what links
 * have beyond that alone, and again as long as that is found; or annealed in
 * the second objective, what links have beyond what the first is kept low. */
enum nw_search_depth {
    NW_SEARCH_DESCENT,
    NW_SEARCH_BRIEF,
    NW_SEARCH_FULL,
    NW_SEARCH_TIGHTEN,
    NW_SEARCH_CAP_SECOND
};

/* Lowers the aim from the seating as it is, which is never left worse. Counts
 * its trials in the problem's budget. */
NW_MUST_CHECK nw_status nw_slots_anneal(struct nw_slots *slots,
                                        const struct nw_objectives *objectives,
                                        enum nw_search_depth depth);

#endif

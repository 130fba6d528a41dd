/* SPDX-License-Identifier: BSD-3-Clause */
/* What a search lowers: an objective, then another without worsening the
 * first. */
#ifndef NW_MAP_CONGESTION_OBJECTIVES_H
#define NW_MAP_CONGESTION_OBJECTIVES_H

#include "map/congestion/link_loads.h"

struct nw_aim {
    enum nw_objective first, second;
    double hop_limit;  /* hop-bytes beyond which it is no bargain; 0: none */
    double most_limit; /* the same of congestion, s */
    double settle_at;  /* s: what settling leaves links; 0: what they have */
};

/* From the options; the second is hop-bytes where none is named, congestion
 * (where there are links, else latency) beside hop-bytes. */
struct nw_aim nw_aim_of(const struct nw_problem *problem);
struct nw_ledger_wants nw_aim_wants(const struct nw_aim *aim);

/* An objective of the ledger as it is. */
double nw_aim_value(const struct nw_ledger *ledger,
                    enum nw_objective objective);
/* The same after a trial, the maximum replaced by a mean of eighth powers,
 * which tells every relief. */
double nw_aim_smooth(const struct nw_ledger *ledger,
                     enum nw_objective objective, bool after);

/* How much a search is worth: downhill alone, or annealed, a little or in
 * full; or, in congestion, annealed towards a step less of it, by what links
 * have beyond that alone, and again as long as that is found; or annealed in
 * the second objective, what links have beyond what the first is kept low. */
enum nw_search_depth {
    NW_SEARCH_DESCENT,
    NW_SEARCH_BRIEF,
    NW_SEARCH_FULL,
    NW_SEARCH_SEEK,
    NW_SEARCH_SETTLE
};

/* Lowers the aim from the seating as it is, which is never left worse. Counts
 * its trials in the problem's budget. */
NW_MUST_CHECK nw_status nw_seats_search(struct nw_seats *seats,
                                        const struct nw_aim *aim,
                                        enum nw_search_depth depth);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of a placement, and swaps that lower its congestion. */
#ifndef NW_MAP_PLACEMENT_CONGESTION_SWAPS_H
#define NW_MAP_PLACEMENT_CONGESTION_SWAPS_H

#include "map/placement/placement.h"

struct nw_placement_cost {
    double congestion; /* s, the largest of any link; 0 without links */
    double hop_bytes;
};

/* The cost of a complete placement, from scratch. */
NW_MUST_CHECK nw_status nw_placement_evaluate(
    const struct nw_placement *placement, struct nw_placement_cost *out);
/* True if a is better: less congestion, or equal (relative 1e-9) and fewer
 * hop-bytes; hop-bytes come first if the placement goes by distance. */
bool nw_placement_cost_less(const struct nw_placement *placement,
                            const struct nw_placement_cost *a,
                            const struct nw_placement_cost *b);

/* Swaps and moves of processes that lower the maximum congestion, then
 * hop-bytes. Fixed processes and capacities are kept. The placement never
 * becomes worse. */
NW_MUST_CHECK nw_status
nw_placement_congestion_swaps(struct nw_placement *placement);

#endif

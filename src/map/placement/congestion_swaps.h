/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of a placement, and swaps that lower its congestion. */
#ifndef NW_MAP_PLACEMENT_CONGESTION_SWAPS_H
#define NW_MAP_PLACEMENT_CONGESTION_SWAPS_H

#include "map/placement/placement.h"

/* The cost of a placement. */
struct nw_placement_cost {
    double congestion; /* largest congestion (load / bandwidth) of any link, in
                          seconds; 0 if the machine has no links */
    double hop_bytes;
};

/* Computes the cost of a placement from scratch; every process must have a
 * place. */
NW_MUST_CHECK nw_status nw_placement_evaluate(struct nw_placement *placement,
                                              struct nw_placement_cost *out);
/* Returns true if cost a is better than cost b: it has less congestion, or
 * equal congestion (to 1e-9 relative) and fewer hop-bytes. With
 * placement->by_distance, hop-bytes are compared first, then congestion. */
bool nw_placement_cost_less(const struct nw_placement *placement,
                            const struct nw_placement_cost *a,
                            const struct nw_placement_cost *b);

/* Swaps and moves processes between places. Each change lowers the sum of the
 * eighth powers of the congestion of all links, which stands for the maximum
 * congestion, or leaves this sum equal and lowers the hop-bytes. With
 * placement->by_distance, hop-bytes come first: no change raises them. Keeps
 * fixed processes and capacities. */
NW_MUST_CHECK nw_status
nw_placement_congestion_swaps(struct nw_placement *placement);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What a placing costs, and swaps that make it cost less. */
#ifndef NW_MAP_PLACEMENT_CONGESTION_SWAPS_H
#define NW_MAP_PLACEMENT_CONGESTION_SWAPS_H

#include "map/placement/placement.h"

struct nw_placement_cost {
    double congestion; /* s, the most of any link; 0 where there are none */
    double hop_bytes;
};

/* The cost of a complete placing, from scratch. */
NW_MUST_CHECK nw_status nw_placement_evaluate(
    const struct nw_placement *placement, struct nw_placement_cost *out);
/* True where a is better: less congestion, or equal there (relative 1e-9) and
 * fewer hop-bytes; the other way round where the placing goes by distance. */
bool nw_placement_cost_less(const struct nw_placement *placement,
                            const struct nw_placement_cost *a,
                            const struct nw_placement_cost *b);

/* Swaps and moves of processes that lower the maximum congestion, then
 * hop-bytes; fixed ones stay, sizes and rooms are kept. Never worse. */
NW_MUST_CHECK nw_status
nw_placement_congestion_swaps(struct nw_placement *placement);

#endif

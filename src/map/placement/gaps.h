/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds levels of a machine from the gaps between its places: gap[i] is the
 * distance from place i - 1 to place i; gap[0] is not used. */
#ifndef NW_MAP_PLACEMENT_GAPS_H
#define NW_MAP_PLACEMENT_GAPS_H

#include <stdint.h>

#define NW_GAP_WIDTHS_MAX 32

/* Fills values[NW_GAP_WIDTHS_MAX] with the different widths of gaps in
 * ascending order. Returns their number; 0 if there are too many. */
int nw_gap_widths(const int64_t *gap, int32_t count, int64_t *values);
/* Returns the length of the runs of places without a gap wider than `width`; 0
 * if these lengths differ. */
int32_t nw_gap_run_length(const int64_t *gap, int32_t count, int64_t width);

#endif

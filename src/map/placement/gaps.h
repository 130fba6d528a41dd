/* SPDX-License-Identifier: BSD-3-Clause */
/* Levels of a machine from the gaps between its places: gap[i] is the distance
 * from place i - 1 to place i; gap[0] is not used. */
#ifndef NW_MAP_PLACEMENT_GAPS_H
#define NW_MAP_PLACEMENT_GAPS_H

#include <stdint.h>

#define NW_GAP_WIDTHS_MAX 32

/* Fills values[NW_GAP_WIDTHS_MAX] with the widths of gaps, each once,
 * ascending. Returns their number; 0 if there are too many. */
int nw_gap_widths(const int64_t *gap, int32_t count, int64_t *values);
/* Length of the runs without a gap wider than `width`; 0 if the lengths differ.
 */
int32_t nw_gap_run_length(const int64_t *gap, int32_t count, int64_t width);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the levels of a machine from the gaps between consecutive places:
 * gap[i] is the distance from place i - 1 to place i; gap[0] is not used. */
#ifndef NW_MAP_PLACEMENT_GAPS_H
#define NW_MAP_PLACEMENT_GAPS_H

#include <stdint.h>

#define NW_GAP_WIDTHS_MAX 32

/* Writes the different widths among gap[1] .. gap[count - 1] to
 * values[NW_GAP_WIDTHS_MAX], in ascending order. Returns how many there are; 0
 * if there are more than NW_GAP_WIDTHS_MAX, or only one place. */
int nw_gap_widths(const int64_t *gap, int32_t count, int64_t *values);
/* Cuts the places at all gaps wider than `width`. Returns the number of places
 * in each run between two cuts; 0 if the runs have different lengths. */
int32_t nw_gap_run_length(const int64_t *gap, int32_t count, int64_t width);

#endif

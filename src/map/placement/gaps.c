/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the levels of a machine from the distances between consecutive places.
 */
#include "map/placement/gaps.h"

int nw_gap_widths(const int64_t *gap, int32_t count, int64_t *values)
{
    int found = 0;

    for (int32_t i = 1; i < count; i++) {
        int at = 0;

        while (at < found && values[at] < gap[i])
            at++;
        if (at < found && values[at] == gap[i])
            continue;
        if (found == NW_GAP_WIDTHS_MAX)
            return 0;
        for (int k = found++; k > at; k--)
            values[k] = values[k - 1];
        values[at] = gap[i];
    }
    return found;
}

int32_t nw_gap_run_length(const int64_t *gap, int32_t count, int64_t width)
{
    int32_t length = 0, begin = 0;

    for (int32_t i = 1; i <= count; i++) {
        if (i < count && gap[i] <= width)
            continue;
        if (length && i - begin != length)
            return 0;
        length = i - begin;
        begin = i;
    }
    return length;
}

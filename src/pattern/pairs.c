/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up the edges of a pair of ranks, for formats with one number per pair.
 */
#include "pattern/format.h"
#include "base/status.h"

nw_status nw_pair_next(const nw_pattern *pattern, int32_t src, size_t *edge,
                       uint64_t *bytes)
{
    int32_t dst = pattern->dst[*edge];
    uint64_t sum = 0;

    for (; *edge < pattern->row[src + 1] && pattern->dst[*edge] == dst; ++*edge)
        if (__builtin_add_overflow(sum, pattern->bytes[*edge], &sum))
            return nw_fail(NW_EUNSUPPORTED,
                           "the bytes of %d -> %d together pass 2^64 - 1", src,
                           dst);
    *bytes = sum;
    return NW_OK;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Four floats at once, wherever they stand. */
#ifndef NW_MAP_COMMON_SIMD4_H
#define NW_MAP_COMMON_SIMD4_H

#include <stdint.h>

#define NW_LANES 4

typedef float nw_lanes __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t nw_lanes_mask __attribute__((vector_size(16)));

static inline nw_lanes nw_lanes_lesser(nw_lanes a, nw_lanes b)
{
#ifdef __SSE__
    return __builtin_ia32_minps(a, b);
#else
    nw_lanes_mask less = a < b;

    return (nw_lanes)(((nw_lanes_mask)a & less) | ((nw_lanes_mask)b & ~less));
#endif
}

static inline float nw_lanes_least(nw_lanes lanes)
{
    float least = lanes[0];

    for (int i = 1; i < NW_LANES; i++)
        least = lanes[i] < least ? lanes[i] : least;
    return least;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A vector of four floats that needs no alignment beyond that of a float. */
#ifndef NW_MAP_COMMON_SIMD4_H
#define NW_MAP_COMMON_SIMD4_H

#include <stdint.h>

#define NW_SIMD4_WIDTH 4

typedef float nw_simd4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t nw_simd4_mask __attribute__((vector_size(16)));

/* Returns for each of the four positions the smaller element of a and b. */
static inline nw_simd4 nw_simd4_min(nw_simd4 a, nw_simd4 b)
{
#ifdef __SSE__
    return __builtin_ia32_minps(a, b);
#else
    nw_simd4_mask less = a < b;

    return (nw_simd4)(((nw_simd4_mask)a & less) | ((nw_simd4_mask)b & ~less));
#endif
}

/* Returns the smallest of the four elements. */
static inline float nw_simd4_least(nw_simd4 simd)
{
    float least = simd[0];

    for (int i = 1; i < NW_SIMD4_WIDTH; i++)
        least = simd[i] < least ? simd[i] : least;
    return least;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The operand type `val` of the formulas. In the staged solver it is one value,
 * and the compiler vectorises the loops. In the blocked solver, which sets
 * NW_LANES_WANTED, it is a vector of neighbouring cells along the contiguous
 * axis if the file is compiled for AVX2 or AVX-512, else one value. Rows are
 * padded, so that the last vector may extend past the end of its row. */
#ifndef NW_MPDATA_VECTOR_H
#define NW_MPDATA_VECTOR_H

#include "mpdata/real.h"
#include <stddef.h>
#include <stdint.h>

#if defined(NW_LANES_WANTED) && (defined(__AVX512F__) || defined(__AVX2__))
#include <immintrin.h>

#ifdef __AVX512F__
#define NW_WIDTH 64
#define NW_PAIR(op, a, b)                                                      \
    (NW_IS_SINGLE ? (val)_mm512_##op##_ps((__m512)(a), (__m512)(b))            \
                  : (val)_mm512_##op##_pd((__m512d)(a), (__m512d)(b)))
#define NW_BEFORE(a, b)                                                        \
    (NW_IS_SINGLE ? _mm512_alignr_epi32((__m512i)(b), (__m512i)(a), 15)        \
                  : _mm512_alignr_epi64((__m512i)(b), (__m512i)(a), 7))
#else
#define NW_WIDTH 32
#define NW_PAIR(op, a, b)                                                      \
    (NW_IS_SINGLE ? (val)_mm256_##op##_ps((__m256)(a), (__m256)(b))            \
                  : (val)_mm256_##op##_pd((__m256d)(a), (__m256d)(b)))
#define NW_BEFORE(a, b)                                                        \
    _mm256_alignr_epi8(                                                        \
        (__m256i)(b),                                                          \
        _mm256_permute2x128_si256((__m256i)(a), (__m256i)(b), 0x21),           \
        16 - (int)sizeof(real))
#endif
#define NW_LANES (NW_WIDTH / (ptrdiff_t)sizeof(real))
/* Hides the relation of two indices from the compiler. Otherwise it would use a
 * separate address for each row, which needs too many registers. */
#define NW_APART(index) __asm__("" : "+r"(index))

typedef real val __attribute__((vector_size(NW_WIDTH)));
typedef int64_t bits __attribute__((vector_size(NW_WIDTH)));
typedef val anywhere __attribute__((aligned(sizeof(real)), may_alias));

NW_INLINE val get(const real *row, ptrdiff_t k)
{
    return *(const anywhere *)(row + k);
}

NW_INLINE void put(real *row, ptrdiff_t k, val value)
{
    *(anywhere *)(row + k) = value;
}

NW_INLINE val least(val a, val b)
{
    return NW_PAIR(min, a, b);
}

NW_INLINE val most(val a, val b)
{
    return NW_PAIR(max, a, b);
}

NW_INLINE val magnitude(val a)
{
    const bits all = {0}, one = ~all;
    const bits sign = NW_IS_SINGLE ? one & 0x7fffffff7fffffff : one & INT64_MAX;

    return (val)((bits)a & sign);
}

/* Returns the vector shifted by one cell: the left neighbours of the elements
 * of b, where vector a precedes b. */
NW_INLINE val before(val a, val b)
{
    return (val)NW_BEFORE(a, b);
}
#else
#define NW_LANES 1
#define NW_APART(index) ((void)(index))

typedef real val;

NW_INLINE val get(const real *row, ptrdiff_t k)
{
    return row[k];
}

NW_INLINE void put(real *row, ptrdiff_t k, val value)
{
    row[k] = value;
}

#ifdef NW_TEXTBOOK
#include <math.h>
#define least(a, b) ((real)fmin(a, b))
#define most(a, b) ((real)fmax(a, b))
#else
NW_INLINE val least(val a, val b)
{
    return a < b ? a : b;
}

NW_INLINE val most(val a, val b)
{
    return a > b ? a : b;
}
#endif

NW_INLINE val before(val a, val b)
{
    (void)b;
    return a;
}

NW_INLINE val magnitude(val a)
{
    return NW_IS_SINGLE ? (real)__builtin_fabsf((float)a)
                        : (real)__builtin_fabs((double)a);
}
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the precision and the instruction set for which a file of kernels is
 * compiled. The build defines NW_REAL (float or double) and NW_ISA; both are
 * part of the names of all exported functions. */
#ifndef NW_MPDATA_REAL_H
#define NW_MPDATA_REAL_H

#include <float.h>

typedef NW_REAL real;

#define NW_JOIN_(name, real, isa) name##_##real##_##isa
#define NW_JOIN(name, real, isa) NW_JOIN_(name, real, isa)
#define NW_NAME(name) NW_JOIN(name, NW_REAL, NW_ISA)

#define NW_IS_SINGLE (sizeof(real) == sizeof(float))
/* Constants that prevent 0 / 0. The strict variant uses the smallest normal
 * number (NW_TINY) in the velocities and the rounding unit (NW_UNIT) in the
 * limiter, as in the published results. The fast variant needs a constant
 * (NW_SMALL) whose third power, times h, is still above 0. */
#define NW_TINY (NW_IS_SINGLE ? (real)FLT_MIN : (real)DBL_MIN)
#define NW_UNIT (NW_IS_SINGLE ? (real)FLT_EPSILON : (real)DBL_EPSILON)
#define NW_SMALL (NW_IS_SINGLE ? (real)1e-11 : (real)1e-60)

/* Marks loops whose rows do not overlap, so that the compiler vectorises them.
 * bench/mpdata also compiles the stages as in a textbook, with NW_TEXTBOOK:
 * without this mark, and with fmin and fmax. */
#ifdef NW_TEXTBOOK
#define NW_VECTOR
#elif defined(__clang__)
#define NW_VECTOR _Pragma("clang loop vectorize(assume_safety)")
#else
#define NW_VECTOR _Pragma("GCC ivdep")
#endif

#define NW_INLINE static inline __attribute__((always_inline))

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the kernels for the instruction set of this CPU. */
#include "mpdata/view.h"

#define NW_KERNELS(isa)                                                        \
    extern const struct nw_mpdata_kernels nw_mpdata_kernels_double_##isa;      \
    extern const struct nw_mpdata_kernels nw_mpdata_kernels_float_##isa;
NW_KERNELS(any)
#ifdef NW_MPDATA_X86
NW_KERNELS(v3)
NW_KERNELS(v4)
#endif

#ifdef NW_MPDATA_X86
/* Returns true if this CPU has the instructions that -march=x86-64-v4 uses.
 * With clang 14, a program can test neither for x86-64-v4 as a whole nor for
 * LZCNT, MOVBE and F16C; all CPUs with BMI2 and AVX-512 have these three. */
static bool mpdata_has_v4(void)
{
    return __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
#endif

const struct nw_mpdata_kernels *nw_mpdata_kernels_find(bool single)
{
#ifdef NW_MPDATA_X86
    __builtin_cpu_init();
    if (mpdata_has_v4())
        return single ? &nw_mpdata_kernels_float_v4
                      : &nw_mpdata_kernels_double_v4;
    if (__builtin_cpu_supports("avx2"))
        return single ? &nw_mpdata_kernels_float_v3
                      : &nw_mpdata_kernels_double_v3;
#endif
    return single ? &nw_mpdata_kernels_float_any
                  : &nw_mpdata_kernels_double_any;
}

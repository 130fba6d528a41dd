/* SPDX-License-Identifier: BSD-3-Clause */
/* Macros for the differences between the three compilers of the kernels: clang
 * without CUDA's headers, nvcc, and a plain C compiler. In plain C, the file
 * that includes this header sets nw_thread and nw_block. */
#ifndef NW_GPU_KERNELS_DEVICE_H
#define NW_GPU_KERNELS_DEVICE_H

#include <stdint.h>

#if defined(NW_KERNELS_ON_HOST)
#define NW_KERNEL(blocks) static void
#define NW_INLINE static inline
#define NW_FAR
static _Thread_local uint32_t nw_thread, nw_block;
#define NW_THREAD nw_thread
#define NW_BLOCK nw_block
typedef uint32_t nw_word16 __attribute__((vector_size(16)));
/* threads of the resident kernel, which runs in a CPU thread here */
#define NW_THREADS 1
#define NW_SHARED
#define NW_BARRIER()
#define NW_FENCE()
#elif defined(__clang__)
#define NW_KERNEL(blocks)                                                      \
    extern "C" __attribute__((global, launch_bounds(256, blocks))) void
#define NW_INLINE static inline __attribute__((device, always_inline))
#define NW_FAR __attribute__((address_space(1)))
#define NW_THREAD ((uint32_t)__nvvm_read_ptx_sreg_tid_x())
#define NW_BLOCK ((uint32_t)__nvvm_read_ptx_sreg_ctaid_x())
typedef uint32_t nw_word16 __attribute__((vector_size(16)));
#define NW_THREADS 256
#define NW_SHARED static __attribute__((shared))
#define NW_BARRIER() __syncthreads()
#define NW_FENCE() __nvvm_membar_sys()
NW_INLINE uint64_t nw_clock(void)
{
    uint64_t ns;

    __asm__ volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}
#define NW_CLOCK() nw_clock()
/* NW_PEEK and NW_POKE, and the read of NW_RELAY, bypass the caches, because
 * other devices read or write these words while the kernel runs. */
#define NW_PEEK(at) (*(const volatile NW_FAR uint64_t *)(at))
#define NW_POKE(at, value) (*(volatile NW_FAR uint64_t *)(at) = (value))
#define NW_RELAY(type, to, from)                                               \
    (*(NW_FAR type *)(to) = *(const volatile NW_FAR type *)(from))
#else
#define NW_KERNEL(blocks)                                                      \
    extern "C" __global__ __launch_bounds__(256, blocks) void
#define NW_INLINE static __device__ __forceinline__
#define NW_FAR
#define NW_THREAD threadIdx.x
#define NW_BLOCK blockIdx.x
typedef uint4 nw_word16;
#define NW_THREADS 256
#define NW_SHARED static __shared__
#define NW_BARRIER() __syncthreads()
#define NW_FENCE() __threadfence_system()
NW_INLINE uint64_t nw_clock(void)
{
    uint64_t ns;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}
#define NW_CLOCK() nw_clock()
#define NW_PEEK(at) (*(const volatile uint64_t *)(at))
#define NW_POKE(at, value) (*(volatile uint64_t *)(at) = (value))
#define NW_RELAY(type, to, from) (*(type *)(to) = __ldcv((const type *)(from)))
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The user's kernel: a thread a cell of a box. clang 14 makes PTX of it without
 * CUDA (regenerate); nvcc takes it too; the tests' double of the driver
 * compiles it for the host with words of its own. */
#if defined(HEAT_KERNEL)
/* the includer's words */
#elif defined(__clang__)
#define HEAT_KERNEL extern "C" __attribute__((global)) void
#define HEAT_INLINE static inline __attribute__((device, always_inline))
#define HEAT_CELLS const __attribute__((address_space(1))) double
#define HEAT_AT(u) (*(u))
#define HEAT_STORE(at, value)                                                  \
    (*(__attribute__((address_space(1))) double *)(at) = (value))
#define HEAT_THREAD                                                            \
    ((int64_t)__nvvm_read_ptx_sreg_ctaid_x() * 256 +                           \
     __nvvm_read_ptx_sreg_tid_x())
#else
#define HEAT_KERNEL extern "C" __global__ void
#define HEAT_INLINE static __device__ __forceinline__
#define HEAT_AT(u) (*(u))
#define HEAT_STORE(at, value) (*(double *)(at) = (value))
#define HEAT_THREAD ((int64_t)blockIdx.x * 256 + threadIdx.x)
#endif
#include "step.h"

HEAT_KERNEL heat_step(struct heat_step step)
{
    int64_t i = HEAT_THREAD;
    int64_t x = i % step.count[0], y = i / step.count[0] % step.count[1];
    int64_t z = i / step.count[0] / step.count[1], cell;
    HEAT_CELLS *u;

    if (z >= step.count[2])
        return;
    cell = (z + step.low[2]) * step.z + (y + step.low[1]) * step.y + x +
           step.low[0];
    u = (HEAT_CELLS *)step.from + cell;
    HEAT_STORE(step.to + (uint64_t)cell * sizeof(double),
               step.corners ? heat_all(u, step.y, step.z)
                            : heat_faces(u, step.y, step.z));
}

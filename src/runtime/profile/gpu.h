/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a buffer is GPU memory, as the CUDA driver says where the program
 * has one loaded. Costs next to nothing where it has none.
 */
#ifndef NW_PROFILE_GPU_H
#define NW_PROFILE_GPU_H

#include <stdbool.h>

/* True where the address lies in GPU or managed memory. */
bool nw_gpu_holds(const void *address);
/* True once the process was seen with a CUDA context. */
bool nw_gpu_is_used(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The embedded kernels: their names, their text for the GPU, and what each
 * does, written once more for the host. */
#ifndef NW_GPU_KERNELS_H
#define NW_GPU_KERNELS_H

#include "gpu/copy_box.h"

#include <stddef.h>

enum nw_gpu_work { NW_GPU_PACK, NW_GPU_UNPACK, NW_GPU_MOVE, NW_GPU_WORK_COUNT };
enum { NW_GPU_WIDTHS = 5 }; /* words of 1, 2, 4, 8, 16 bytes */

/* "nw_pack_4"; width counts from 0 for 1 byte to 4 for 16. */
extern const char *const nw_gpu_kernel_name[NW_GPU_WORK_COUNT][NW_GPU_WIDTHS];

/* PTX, made from kernels/boxes.cu and kernels/resident.cu by
 * kernels/regenerate; NUL at the end. */
extern const char nw_gpu_ptx[];
extern const char nw_gpu_resident_ptx[];

/* The host twin: what the kernel does, on host memory, in plain loops. */
void nw_gpu_host_reference(enum nw_gpu_work work, int width,
                           const struct nw_gpu_box *box, const int64_t *shift);

#endif

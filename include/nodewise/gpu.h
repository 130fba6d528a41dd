/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The GPUs that this process can use. They are numbered by their driver, after
 * CUDA_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES is applied. The first call loads
 * the driver: CUDA, or HIP if CUDA is missing. All calls are local and
 * thread-safe, and they do not change the caller's current GPU.
 */
#ifndef NODEWISE_GPU_H
#define NODEWISE_GPU_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The description of a GPU. */
struct nw_gpu_properties {
    char name[96];
    char uuid[48];   /* "GPU-8a6b...", "" if the driver gives none */
    char pci_id[16]; /* "0000:1b:00.0" */
    size_t memory;   /* bytes */
};

/* Stores the number of GPUs, at least 1. NW_ENODEV: no driver or no GPU. */
NW_API NW_MUST_CHECK nw_status nw_gpu_count(int32_t *out);

/* Describes GPU number `gpu`, counted from 0. NW_ENODEV: no driver or no GPU.
 * NW_EINVAL: unknown GPU number. */
NW_API NW_MUST_CHECK nw_status nw_gpu_describe(int32_t gpu,
                                               struct nw_gpu_properties *out);

/* Returns true if `memory` is GPU memory or managed memory, and stores the
 * number of its GPU in *gpu. *gpu is -1 if the result is false or the driver
 * does not give a number. `gpu` may be NULL. The result is false for host
 * memory, also if it is pinned, and on machines without a GPU. */
NW_API bool nw_gpu_owns(const void *memory, int32_t *gpu);

#ifdef __cplusplus
}
#endif

#endif

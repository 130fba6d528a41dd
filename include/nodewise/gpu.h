/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The GPUs that this process reaches, as their driver numbers them after
 * CUDA_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES. The driver (CUDA, or HIP where
 * there is none) is loaded by the first call. Any thread may call; none of
 * these is collective, and none changes the caller's current GPU.
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

struct nw_gpu_facts {
    char name[96];
    char uuid[48];   /* "GPU-8a6b...", "" where the driver has none */
    char pci_id[16]; /* "0000:1b:00.0" */
    size_t memory;   /* bytes */
};

/* At least one. NW_ENODEV where there is no driver or no GPU. */
NW_API NW_MUST_CHECK nw_status nw_gpu_count(int32_t *out);

/* NW_ENODEV as above; NW_EINVAL where no GPU has this number, from 0. */
NW_API NW_MUST_CHECK nw_status nw_gpu_describe(int32_t gpu,
                                               struct nw_gpu_facts *out);

/* Whether memory is a GPU's, managed memory included, and whose: *gpu is -1
 * where it is not or the driver does not say. `gpu` may be NULL. Host memory,
 * pinned or not, is none, and nothing is where there is no GPU. */
NW_API bool nw_gpu_owns(const void *memory, int32_t *gpu);

#ifdef __cplusplus
}
#endif

#endif

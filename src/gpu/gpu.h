/* SPDX-License-Identifier: BSD-3-Clause */
/* GPU operations behind one table, whoever made the GPU. */
#ifndef NW_GPU_GPU_H
#define NW_GPU_GPU_H

#include <nodewise/status.h>
#include <stddef.h>
#include <stdint.h>

struct nw_gpu {
    const char *name;
    /* Loads the driver; the number of GPUs, at least one. NW_ENODEV where
     * there is no driver or no GPU. Every other call comes after it. */
    nw_status (*open)(int32_t *count);
    /* Makes a GPU current for the calling thread. */
    nw_status (*select)(int32_t gpu);
    nw_status (*alloc)(size_t bytes, void **out);
    void (*free)(void *memory); /* NULL is fine */
    /* Done when they return. */
    nw_status (*copy_in)(void *gpu, const void *host, size_t bytes);
    nw_status (*copy_out)(void *host, const void *gpu, size_t bytes);
};

extern const struct nw_gpu nw_gpu_cuda;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The kind of memory of a buffer, and the copies into and out of GPU memory. */
#ifndef NW_CHANNEL_MEMORY_MEMORY_H
#define NW_CHANNEL_MEMORY_MEMORY_H

#include "gpu/gpu.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Loads the driver of the GPU; false if this fails. */
bool nw_memory_open(void);
int32_t nw_memory_gpus(void); /* number of GPUs; after nw_memory_open */
/* The GPU that the caller uses; after nw_memory_open. */
int32_t nw_memory_home(void);
/* The GPU that holds `memory`, or -1 for host memory. */
int32_t nw_memory_gpu(const void *memory);
/* Copies by the driver; complete on return. */
NW_MUST_CHECK nw_status nw_memory_copy_in(int32_t gpu, void *to,
                                          const void *from, size_t bytes);
NW_MUST_CHECK nw_status nw_memory_copy_out(int32_t gpu, void *to,
                                           const void *from, size_t bytes);
/* Copies from GPU memory, or host memory (-1), into opened memory; from host
 * memory by the GPU nw_memory_home. */
NW_MUST_CHECK nw_status nw_memory_copy_over(int32_t gpu, void *to,
                                            const void *from, size_t bytes);
/* The life of the context in which the library works on a GPU. Objects of a
 * life that has ended, because the program reset the GPU, must not be used. */
struct nw_gpu_life nw_memory_life(int32_t gpu);
bool nw_memory_lives(const struct nw_gpu_life *life);
/* The allocation that contains GPU memory; its `id` is unique. */
struct nw_memory_range {
    void *start;
    size_t bytes;
    uint64_t id;
};
NW_MUST_CHECK nw_status nw_memory_range(const void *memory,
                                        struct nw_memory_range *out);
/* Asks the driver to synchronise its copies with other accesses to this
 * memory. */
NW_MUST_CHECK nw_status nw_memory_keep_in_step(void *memory);
/* An offer of GPU memory to another process of this host. */
struct nw_memory_offer {
    char handle[64];
    uint64_t offset, id;
    size_t bytes; /* from there to the end of the allocation */
};
NW_MUST_CHECK nw_status nw_memory_offer(int32_t gpu, void *memory,
                                        struct nw_memory_offer *out);
/* Opens an offer for copies by GPU `at`; nw_memory_close needs the same GPU. */
NW_MUST_CHECK nw_status nw_memory_open_offer(int32_t at, const char handle[64],
                                             void **out);
void nw_memory_close(int32_t at, void *memory); /* NULL is fine */
/* A dma-buf descriptor of whole pages, which the caller closes; NW_ENODEV if
 * the driver has no such call. */
NW_MUST_CHECK nw_status nw_memory_dmabuf(int32_t gpu, void *memory,
                                         size_t bytes, int *out);
NW_MUST_CHECK nw_status nw_memory_new(int32_t gpu, size_t bytes, void **out);
void nw_memory_free(void *memory); /* NULL is fine */
/* Host memory, pinned for all GPUs if there are any. */
NW_MUST_CHECK nw_status nw_memory_pinned_new(size_t bytes, void **out);
void nw_memory_pinned_free(void *memory);

#endif

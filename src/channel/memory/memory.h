/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out whether a buffer is in host or GPU memory, allocates both kinds,
 * and copies into and out of GPU memory. */
#ifndef NW_CHANNEL_MEMORY_MEMORY_H
#define NW_CHANNEL_MEMORY_MEMORY_H

#include "gpu/gpu.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Loads the GPU driver; returns false if that fails. */
bool nw_memory_open(void);
/* Returns the number of GPUs; call nw_memory_open before. */
int32_t nw_memory_gpus(void);
/* Returns the GPU that the calling thread uses; call nw_memory_open before. */
int32_t nw_memory_home(void);
/* Returns the GPU that holds `memory`, or -1 for host memory. */
int32_t nw_memory_gpu(const void *memory);
/* The driver copies from host memory into memory of `gpu`, and out of it; both
 * copies are complete on return. */
NW_MUST_CHECK nw_status nw_memory_copy_in(int32_t gpu, void *to,
                                          const void *from, size_t bytes);
NW_MUST_CHECK nw_status nw_memory_copy_out(int32_t gpu, void *to,
                                           const void *from, size_t bytes);
/* Copies into memory that nw_memory_open_offer has opened, from memory of
 * `gpu`, or from host memory if `gpu` is -1. The GPU nw_memory_home does the
 * copy from host memory. The copy is complete on return. */
NW_MUST_CHECK nw_status nw_memory_copy_over(int32_t gpu, void *to,
                                            const void *from, size_t bytes);
/* Returns the life of the context in which the library works on a GPU. A life
 * ends when the program resets the GPU; objects of an ended life must not be
 * used. nw_memory_lives returns true if the life has not ended. */
struct nw_gpu_life nw_memory_life(int32_t gpu);
bool nw_memory_lives(const struct nw_gpu_life *life);
/* The allocation that contains some GPU memory; `id` is unique in this process.
 */
struct nw_memory_range {
    void *start;
    size_t bytes;
    uint64_t id;
};
NW_MUST_CHECK nw_status nw_memory_range(const void *memory,
                                        struct nw_memory_range *out);
/* Asks the driver to keep its copies ordered with other accesses to this
 * memory. */
NW_MUST_CHECK nw_status nw_memory_keep_in_step(void *memory);
/* An offer of GPU memory to another process of this host. */
struct nw_memory_offer {
    char handle[64];
    uint64_t offset, id;
    size_t bytes; /* bytes from `offset` to the end of the allocation */
};
NW_MUST_CHECK nw_status nw_memory_offer(int32_t gpu, void *memory,
                                        struct nw_memory_offer *out);
/* Opens offered memory for copies by GPU `at`; nw_memory_close needs the same
 * GPU number. */
NW_MUST_CHECK nw_status nw_memory_open_offer(int32_t at, const char handle[64],
                                             void **out);
void nw_memory_close(int32_t at, void *memory); /* NULL is ignored */
/* Sets *out to a dma-buf descriptor of GPU memory of whole pages, which the
 * caller closes; NW_ENODEV if the driver has no such call. */
NW_MUST_CHECK nw_status nw_memory_dmabuf(int32_t gpu, void *memory,
                                         size_t bytes, int *out);
NW_MUST_CHECK nw_status nw_memory_new(int32_t gpu, size_t bytes, void **out);
void nw_memory_free(void *memory); /* NULL is ignored */
/* Allocates host memory, pinned for all GPUs if there are any. */
NW_MUST_CHECK nw_status nw_memory_pinned_new(size_t bytes, void **out);
void nw_memory_pinned_free(void *memory);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose memory a buffer is, and the ways into and out of a GPU's. */
#ifndef NW_CHANNEL_MEMORY_MEMORY_H
#define NW_CHANNEL_MEMORY_MEMORY_H

#include "gpu/gpu.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Loads the GPU's driver where there is one; false where there is none. */
bool nw_memory_open(void);
int32_t nw_memory_gpus(void); /* how many; after it was opened */
/* The one that the caller uses; after it was opened. */
int32_t nw_memory_home(void);
/* The GPU that holds memory, -1 for the host's. */
int32_t nw_memory_gpu(const void *memory);
/* By the driver's copy. Done on return. */
NW_MUST_CHECK nw_status nw_memory_copy_in(int32_t gpu, void *to,
                                          const void *from, size_t bytes);
NW_MUST_CHECK nw_status nw_memory_copy_out(int32_t gpu, void *to,
                                           const void *from, size_t bytes);
/* From a GPU's memory, or the host's (-1), into opened memory; in the host's
 * case by nw_memory_home. */
NW_MUST_CHECK nw_status nw_memory_copy_over(int32_t gpu, void *to,
                                            const void *from, size_t bytes);
/* Of the context in which the library works on a GPU: what was made in a life
 * that has ended, since the program reset the GPU, must not be touched. */
struct nw_gpu_life nw_memory_life(int32_t gpu);
bool nw_memory_lives(const struct nw_gpu_life *life);
/* The allocation that GPU memory lies in; `id` is never another's. */
struct nw_memory_range {
    void *start;
    size_t bytes;
    uint64_t id;
};
NW_MUST_CHECK nw_status nw_memory_range(const void *memory,
                                        struct nw_memory_range *out);
/* Says to the driver that others will read and write it, too. */
NW_MUST_CHECK nw_status nw_memory_keep_in_step(void *memory);
/* GPU memory for another process of this host, and there. */
struct nw_memory_offer {
    char handle[64];
    uint64_t offset, id;
    size_t bytes; /* from there to the end of the allocation */
};
NW_MUST_CHECK nw_status nw_memory_offer(int32_t gpu, void *memory,
                                        struct nw_memory_offer *out);
/* For copies of GPU `at`, which closes it, too. */
NW_MUST_CHECK nw_status nw_memory_open_offer(int32_t at, const char handle[64],
                                             void **out);
void nw_memory_close(int32_t at, void *memory); /* NULL is fine */
/* A descriptor of whole pages, to be closed; NW_ENODEV where the driver has no
 * call for it. */
NW_MUST_CHECK nw_status nw_memory_dmabuf(int32_t gpu, void *memory,
                                         size_t bytes, int *out);
NW_MUST_CHECK nw_status nw_memory_new(int32_t gpu, size_t bytes, void **out);
void nw_memory_free(void *memory); /* NULL is fine */
/* Pinned where there is a GPU, for all of them. */
NW_MUST_CHECK nw_status nw_memory_pinned_new(size_t bytes, void **out);
void nw_memory_pinned_free(void *memory);

#endif

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

/* Loads the CUDA driver at the first call. Returns false if that fails or no
 * GPU is found. */
bool nw_memory_open(void);
/* Returns the number of GPUs; call nw_memory_open before. */
int32_t nw_memory_gpus(void);
/* Returns the number of the GPU that is current in the calling thread, else the
 * first that this process uses, else 0. Call nw_memory_open before. */
int32_t nw_memory_home(void);
/* Returns the GPU that holds `memory`, or -1 for host memory. */
int32_t nw_memory_gpu(const void *memory);
/* Copy by the driver from host memory into memory of `gpu` (in), and from
 * memory of `gpu` into host memory (out). Both are complete on return. */
NW_MUST_CHECK nw_status nw_memory_copy_in(int32_t gpu, void *to,
                                          const void *from, size_t bytes);
NW_MUST_CHECK nw_status nw_memory_copy_out(int32_t gpu, void *to,
                                           const void *from, size_t bytes);
/* Copies into GPU memory, also into memory that nw_memory_open_offer has
 * opened. GPU `gpu` copies from GPU memory. If `gpu` is -1, GPU nw_memory_home
 * copies from host memory. The copy is complete on return. */
NW_MUST_CHECK nw_status nw_memory_copy_over(int32_t gpu, void *to,
                                            const void *from, size_t bytes);
/* Returns an identifier ("life") of the context in which the library uses a
 * GPU. A life ends when the program resets the GPU. Objects of an ended life
 * must not be used or freed. nw_memory_lives returns true if the life has not
 * ended. */
struct nw_gpu_life nw_memory_life(int32_t gpu);
bool nw_memory_lives(const struct nw_gpu_life *life);
/* An allocation of GPU memory: its start, its size, and an id that is unique
 * within this process. nw_memory_range finds the allocation that contains
 * `memory`. */
struct nw_memory_range {
    void *start;
    size_t bytes;
    uint64_t id;
};
NW_MUST_CHECK nw_status nw_memory_range(const void *memory,
                                        struct nw_memory_range *out);
/* Sets CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: the driver's copies to and from this
 * memory are then synchronous, so they stay in order with other accesses. */
NW_MUST_CHECK nw_status nw_memory_keep_in_step(void *memory);
/* An offer of GPU memory to another process of this host (CUDA IPC).
 * nw_memory_offer makes the offer for the rest of the allocation from `memory`
 * on. */
struct nw_memory_offer {
    char handle[64];
    uint64_t offset, id;
    size_t bytes; /* bytes from `offset` to the end of the allocation */
};
NW_MUST_CHECK nw_status nw_memory_offer(int32_t gpu, void *memory,
                                        struct nw_memory_offer *out);
/* Opens offered memory for copies by GPU `at`. Close it by nw_memory_close with
 * the same GPU number. */
NW_MUST_CHECK nw_status nw_memory_open_offer(int32_t at, const char handle[64],
                                             void **out);
void nw_memory_close(int32_t at, void *memory); /* NULL is ignored */
/* Sets *out to the file descriptor of a dma-buf of GPU memory, which must
 * consist of whole pages. The caller closes the descriptor. NW_ENODEV if the
 * driver has no dma-buf call. */
NW_MUST_CHECK nw_status nw_memory_dmabuf(int32_t gpu, void *memory,
                                         size_t bytes, int *out);
NW_MUST_CHECK nw_status nw_memory_new(int32_t gpu, size_t bytes, void **out);
void nw_memory_free(void *memory); /* NULL is ignored */
/* Allocates host memory, pinned for all GPUs if there are any. */
NW_MUST_CHECK nw_status nw_memory_pinned_new(size_t bytes, void **out);
void nw_memory_pinned_free(void *memory);

#endif

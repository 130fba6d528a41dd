/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the GPU allocation of an address. For a buffer in one of the
 * allocations used last, the driver is asked only for the allocation's id; the
 * range is in a cache. Several driver calls for each buffer would take longer
 * than sending a small message. */
#ifndef NW_MESSAGES_POINTER_CACHE_H
#define NW_MESSAGES_POINTER_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A GPU allocation. If the driver cannot report its range, `id` and `bytes` are
 * 0. */
struct nw_pointer {
    uint64_t id;
    uintptr_t start;
    size_t bytes;
    int32_t gpu;
    bool managed; /* nw_gpu_is_managed is true */
};

/* Finds the GPU allocation that contains an address. Returns false, and leaves
 * *out unchanged, if the address is not in GPU memory. */
bool nw_pointer_find(const void *memory, struct nw_pointer *out);
bool nw_pointer_holds(const struct nw_pointer *owner, const void *memory,
                      size_t bytes);

#endif

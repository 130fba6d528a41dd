/* SPDX-License-Identifier: BSD-3-Clause */
/* A heap of processes by gain; among equals the lowest process comes first. */
#ifndef NW_MAP_COMMON_ADDRESSABLE_HEAP_H
#define NW_MAP_COMMON_ADDRESSABLE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct nw_heap {
    const double *gain; /* [processes], borrowed */
    int32_t *at;        /* [processes] index + 1 in the heap it is in; 0: none;
                           may serve several heaps without a common member */
    int32_t *item;
    int32_t count;
};

void nw_heap_add(struct nw_heap *heap, int32_t process);
void nw_heap_remove(struct nw_heap *heap, int32_t process);
/* After gain[process] changed. */
void nw_heap_update(struct nw_heap *heap, int32_t process);
static inline int32_t nw_heap_top(const struct nw_heap *heap)
{
    return heap->count ? heap->item[0] : -1;
}

#endif

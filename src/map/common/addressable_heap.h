/* SPDX-License-Identifier: BSD-3-Clause */
/* A binary heap of processes, the largest gain on top; the lowest process
 * number comes first among processes of equal gain. */
#ifndef NW_MAP_COMMON_ADDRESSABLE_HEAP_H
#define NW_MAP_COMMON_ADDRESSABLE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct nw_heap {
    const double *gain; /* [processes], borrowed */
    int32_t *at;        /* [processes] 1 + index of a process in `item`; 0: not
                           in a heap. Heaps without a common process may share
                           this array. */
    int32_t *item;
    int32_t count;
};

void nw_heap_add(struct nw_heap *heap, int32_t process);
void nw_heap_remove(struct nw_heap *heap, int32_t process);
/* Restores the heap order after gain[process] changed. */
void nw_heap_update(struct nw_heap *heap, int32_t process);
static inline int32_t nw_heap_top(const struct nw_heap *heap)
{
    return heap->count ? heap->item[0] : -1;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A binary heap of numbered items, called processes here. The process with the
 * largest gain is on top; of several with the same gain, the one with the
 * lowest number. */
#ifndef NW_MAP_COMMON_ADDRESSABLE_HEAP_H
#define NW_MAP_COMMON_ADDRESSABLE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

/* The heap. Its arrays belong to the caller. */
struct nw_heap {
    const double *gain; /* [processes] sort key of each process */
    int32_t *at;   /* [processes] 1 + index in `item` of each process; 0: the
                      process is not in a heap. Heaps without a common process
                      may share this array. */
    int32_t *item; /* [count] processes in heap order; item[0] is on top */
    int32_t count; /* number of processes in the heap */
};

/* Adds a process that is not in the heap; `item` must have space for it. */
void nw_heap_add(struct nw_heap *heap, int32_t process);
/* Removes a process that is in the heap. */
void nw_heap_remove(struct nw_heap *heap, int32_t process);
/* Restores the heap order after gain[process] changed. The process must be in
 * the heap. */
void nw_heap_update(struct nw_heap *heap, int32_t process);
/* Returns the process on top; -1 if the heap is empty. */
static inline int32_t nw_heap_top(const struct nw_heap *heap)
{
    return heap->count ? heap->item[0] : -1;
}

#endif

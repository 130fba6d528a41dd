/* SPDX-License-Identifier: BSD-3-Clause */
/* A binary heap of processes. The array `at` gives the position of each process
 * in `item`, so that no search is needed to remove or update a process. */
#include "map/common/addressable_heap.h"

/* Returns true if process a comes before process b in the heap: its gain is
 * larger, or equal and its number is lower. */
static inline bool heap_before(const double *gain, int32_t a, int32_t b)
{
    return gain[a] > gain[b] || (gain[a] >= gain[b] && a < b);
}

/* Puts a process at position i of the heap and sets its entry in `at` to i + 1.
 */
static inline void heap_set(struct nw_heap *heap, uint32_t i, int32_t process)
{
    heap->item[i] = process;
    heap->at[process] = (int32_t)i + 1;
}

/* Puts a process at the vacant position i of the heap, or at a position above
 * it, so that its parent comes before it (heap_before). */
static inline void heap_rise(struct nw_heap *heap, uint32_t i, int32_t process)
{
    const double *gain = heap->gain;

    for (uint32_t parent; i; i = parent) {
        parent = (i - 1) / 2;
        if (!heap_before(gain, process, heap->item[parent]))
            break;
        heap_set(heap, i, heap->item[parent]);
    }
    heap_set(heap, i, process);
}

/* Puts a process at the vacant position i of the heap, or at a position below
 * it, so that it comes before its children (heap_before). */
static inline void heap_sink(struct nw_heap *heap, uint32_t i, int32_t process)
{
    const double *gain = heap->gain;
    const int32_t *item = heap->item;
    uint32_t count = (uint32_t)heap->count;

    for (uint32_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count &&
            heap_before(gain, item[child + 1], item[child]))
            child++;
        if (!heap_before(gain, item[child], process))
            break;
        heap_set(heap, i, item[child]);
    }
    heap_set(heap, i, process);
}

void nw_heap_add(struct nw_heap *heap, int32_t process)
{
    heap_rise(heap, (uint32_t)heap->count++, process);
}

/* Puts a process at the vacant position i, or where it belongs above or below
 * that position. */
static inline void heap_place(struct nw_heap *heap, uint32_t i, int32_t process)
{
    if (i && heap_before(heap->gain, process, heap->item[(i - 1) / 2]))
        heap_rise(heap, i, process);
    else
        heap_sink(heap, i, process);
}

void nw_heap_remove(struct nw_heap *heap, int32_t process)
{
    int32_t i = heap->at[process] - 1, last = heap->item[--heap->count];

    heap->at[process] = 0;
    if (i < heap->count)
        heap_place(heap, (uint32_t)i, last);
}

void nw_heap_update(struct nw_heap *heap, int32_t process)
{
    heap_place(heap, (uint32_t)heap->at[process] - 1, process);
}

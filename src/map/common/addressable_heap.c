/* SPDX-License-Identifier: BSD-3-Clause */
/* A binary heap of processes. The index `at` gives the position of a process in
 * `item`, so removing or updating a process needs no search. */
#include "map/common/addressable_heap.h"

/* Returns true if process a comes before process b in the heap: its gain is
 * larger, or equal and its number is lower. */
static bool heap_before(const struct nw_heap *heap, int32_t a, int32_t b)
{
    if (heap->gain[a] != heap->gain[b])
        return heap->gain[a] > heap->gain[b];
    return a < b;
}

/* Puts a process at position i of the heap and notes that in `at`. */
static void heap_set(struct nw_heap *heap, int32_t i, int32_t process)
{
    heap->item[i] = process;
    heap->at[process] = i + 1;
}

/* Moves the process at position i up until its parent in the heap comes before
 * it. */
static void heap_rise(struct nw_heap *heap, int32_t i)
{
    int32_t process = heap->item[i];

    for (; i && heap_before(heap, process, heap->item[(i - 1) / 2]);
         i = (i - 1) / 2)
        heap_set(heap, i, heap->item[(i - 1) / 2]);
    heap_set(heap, i, process);
}

/* Moves the process at position i down until it comes before both of its
 * children. */
static void heap_sink(struct nw_heap *heap, int32_t i)
{
    int32_t process = heap->item[i];

    for (;;) {
        int32_t child = 2 * i + 1;

        if (child >= heap->count)
            break;
        if (child + 1 < heap->count &&
            heap_before(heap, heap->item[child + 1], heap->item[child]))
            child++;
        if (!heap_before(heap, heap->item[child], process))
            break;
        heap_set(heap, i, heap->item[child]);
        i = child;
    }
    heap_set(heap, i, process);
}

void nw_heap_add(struct nw_heap *heap, int32_t process)
{
    heap->item[heap->count] = process;
    heap_rise(heap, heap->count++);
}

void nw_heap_remove(struct nw_heap *heap, int32_t process)
{
    int32_t i = heap->at[process] - 1, last = heap->item[--heap->count];

    heap->at[process] = 0;
    if (i == heap->count)
        return;
    heap_set(heap, i, last);
    nw_heap_update(heap, last);
}

void nw_heap_update(struct nw_heap *heap, int32_t process)
{
    int32_t i = heap->at[process] - 1;

    if (i && heap_before(heap, process, heap->item[(i - 1) / 2]))
        heap_rise(heap, i);
    else
        heap_sink(heap, i);
}

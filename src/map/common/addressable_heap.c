/* SPDX-License-Identifier: BSD-3-Clause */
/* A binary heap that knows where its members are. */
#include "map/common/addressable_heap.h"

static bool before(const struct nw_heap *heap, int32_t a, int32_t b)
{
    if (heap->gain[a] != heap->gain[b])
        return heap->gain[a] > heap->gain[b];
    return a < b;
}

static void set(struct nw_heap *heap, int32_t i, int32_t process)
{
    heap->item[i] = process;
    heap->at[process] = i + 1;
}

static void rise(struct nw_heap *heap, int32_t i)
{
    int32_t process = heap->item[i];

    for (; i && before(heap, process, heap->item[(i - 1) / 2]); i = (i - 1) / 2)
        set(heap, i, heap->item[(i - 1) / 2]);
    set(heap, i, process);
}

static void sink(struct nw_heap *heap, int32_t i)
{
    int32_t process = heap->item[i];

    for (;;) {
        int32_t child = 2 * i + 1;

        if (child >= heap->count)
            break;
        if (child + 1 < heap->count &&
            before(heap, heap->item[child + 1], heap->item[child]))
            child++;
        if (!before(heap, heap->item[child], process))
            break;
        set(heap, i, heap->item[child]);
        i = child;
    }
    set(heap, i, process);
}

void nw_heap_add(struct nw_heap *heap, int32_t process)
{
    heap->item[heap->count] = process;
    rise(heap, heap->count++);
}

void nw_heap_remove(struct nw_heap *heap, int32_t process)
{
    int32_t i = heap->at[process] - 1, last = heap->item[--heap->count];

    heap->at[process] = 0;
    if (i == heap->count)
        return;
    set(heap, i, last);
    nw_heap_update(heap, last);
}

void nw_heap_update(struct nw_heap *heap, int32_t process)
{
    int32_t i = heap->at[process] - 1;

    if (i && before(heap, process, heap->item[(i - 1) / 2]))
        rise(heap, i);
    else
        sink(heap, i);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the free slots of places (hosts or other parts of the machine) while
 * ranks are assigned to them or leave them. If ranks use GPUs, counts the slots
 * for these ranks too. */
#include "map/problem/free_slots.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* Returns how many ranks with a GPU still fit on a place: each needs a free
 * core slot and a free GPU slot. */
static int64_t free_slots_pairs(const struct nw_free_slots *free_slots,
                                int32_t place)
{
    int32_t capacity = free_slots->capacity[place],
            gpu_capacity = free_slots->gpu_capacity[place];

    return capacity < gpu_capacity ? capacity : gpu_capacity;
}

nw_status nw_free_slots_init(struct nw_free_slots *free_slots, int32_t count,
                             const int32_t *capacity,
                             const int32_t *gpu_capacity)
{
    size_t n = (size_t)count;
    nw_status status;

    *free_slots = (struct nw_free_slots){.count = count};
    status = nw_alloc(n, sizeof *free_slots->capacity, &free_slots->capacity);
    if (!status && gpu_capacity)
        status = nw_alloc(n, sizeof *free_slots->gpu_capacity,
                          &free_slots->gpu_capacity);
    if (status)
        return status;
    memcpy(free_slots->capacity, capacity, n * sizeof *capacity);
    if (gpu_capacity)
        memcpy(free_slots->gpu_capacity, gpu_capacity,
               n * sizeof *gpu_capacity);
    nw_free_slots_expect(free_slots, 0);
    return NW_OK;
}

void nw_free_slots_expect(struct nw_free_slots *free_slots, int64_t gpu_ranks)
{
    free_slots->spare = -gpu_ranks;
    for (int32_t p = 0; free_slots->gpu_capacity && p < free_slots->count; p++)
        free_slots->spare += free_slots_pairs(free_slots, p);
}

void nw_free_slots_fini(struct nw_free_slots *free_slots)
{
    free(free_slots->capacity);
    free(free_slots->gpu_capacity);
    *free_slots = (struct nw_free_slots){0};
}

bool nw_free_slots_fits(const struct nw_free_slots *free_slots, int32_t place,
                        bool gpu)
{
    if (free_slots->capacity[place] <= 0)
        return false;
    if (!free_slots->gpu_capacity)
        return true;
    if (gpu)
        return free_slots->gpu_capacity[place] > 0;
    return free_slots->capacity[place] > free_slots->gpu_capacity[place] ||
           free_slots->spare > 0;
}

/* Changes the free slots of a place by `by`: 1 if a rank leaves it, -1 if a
 * rank takes it; `gpu`: the rank uses a GPU. Updates `spare`. */
static void free_slots_change(struct nw_free_slots *free_slots, int32_t place,
                              bool gpu, int by)
{
    int64_t before;

    if (!free_slots->gpu_capacity) {
        free_slots->capacity[place] += by;
        return;
    }
    before = free_slots_pairs(free_slots, place);
    free_slots->capacity[place] += by;
    free_slots->gpu_capacity[place] += gpu ? by : 0;
    free_slots->spare +=
        free_slots_pairs(free_slots, place) - before - (gpu ? by : 0);
}

void nw_free_slots_take(struct nw_free_slots *free_slots, int32_t place,
                        bool gpu)
{
    free_slots_change(free_slots, place, gpu, -1);
}

void nw_free_slots_give(struct nw_free_slots *free_slots, int32_t place,
                        bool gpu)
{
    free_slots_change(free_slots, place, gpu, 1);
}

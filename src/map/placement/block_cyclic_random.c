/* SPDX-License-Identifier: BSD-3-Clause */
/* Placers that ignore traffic and links: block, cyclic, random. */
#include "map/placement/placement.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* Returns the first place with a free slot for the process; -1 if no place has
 * one. The search begins at place `from` and continues with place 0 after the
 * last place. */
static int32_t simple_find_free(const struct nw_placement *placement,
                                int32_t process, int32_t from)
{
    int32_t count = placement->places->count;

    for (int32_t i = 0; i < count; i++) {
        int32_t place = from + i < count ? from + i : from + i - count;

        if (nw_placement_fits(placement, process, place))
            return place;
    }
    return -1;
}

/* Places processes in order. After each one, the search for a free slot begins
 * `step` places after its place: with 0, place after place is filled; with 1,
 * consecutive processes go to consecutive places. */
static nw_status simple_in_turn(struct nw_placement *placement, int32_t step)
{
    int32_t at = 0;

    for (int32_t p = 0; p < placement->count; p++) {
        if (placement->place[p] >= 0)
            continue;
        at = simple_find_free(placement, p, at);
        if (at < 0)
            return nw_placement_full(p);
        nw_placement_put(placement, p, at);
        at = (at + step) % placement->places->count;
    }
    return NW_OK;
}

nw_status nw_place_block(struct nw_placement *placement)
{
    return simple_in_turn(placement, 0);
}

nw_status nw_place_cyclic(struct nw_placement *placement)
{
    return simple_in_turn(placement, 1);
}

/* Lists all free slots in random order; a place with five free slots occurs
 * five times. All orders are equally likely. */
static nw_status simple_draw_slots(struct nw_placement *placement,
                                   int32_t **out, size_t *count)
{
    const struct nw_free_slots *free_slots = &placement->free_slots;
    size_t total = 0, at = 0;
    nw_status status;

    for (int32_t p = 0; p < free_slots->count; p++)
        total += (size_t)free_slots->capacity[p];
    status = nw_alloc(total, sizeof **out, out);
    if (status)
        return status;
    for (int32_t p = 0; p < free_slots->count; p++)
        for (int32_t i = 0; i < free_slots->capacity[p]; i++)
            (*out)[at++] = p;
    nw_random_shuffle(placement->random, *out, total);
    *count = total;
    return NW_OK;
}

nw_status nw_place_random(struct nw_placement *placement)
{
    int32_t *slot;
    size_t count, at = 0;
    nw_status status = simple_draw_slots(placement, &slot, &count);

    if (status)
        return status;
    for (int32_t p = 0; !status && p < placement->count; p++) {
        int32_t place;

        if (placement->place[p] >= 0)
            continue;
        place = count ? simple_find_free(placement, p, slot[at++ % count]) : -1;
        if (place < 0)
            status = nw_placement_full(p);
        else
            nw_placement_put(placement, p, place);
    }
    free(slot);
    return status;
}

nw_status nw_placement_initial(struct nw_placement *placement)
{
    for (int32_t p = 0; placement->initial && p < placement->count; p++) {
        int32_t place = placement->initial[p];

        if (placement->place[p] < 0 && place >= 0 &&
            nw_placement_fits(placement, p, place))
            nw_placement_put(placement, p, place);
    }
    return nw_place_block(placement);
}

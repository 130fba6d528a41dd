/* SPDX-License-Identifier: BSD-3-Clause */
/* Placers that look at neither traffic nor links: block, cyclic, random. */
#include "map/placement/placement.h"
#include "base/array.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

static nw_status full(int32_t process)
{
    return nw_fail_about(NW_FIXED(-1), NW_EINVAL,
                         "the fixed ranks leave no room for process %d",
                         process);
}

/* The first place with room from `from` on, around; -1 for none. */
static int32_t find_room(const struct nw_placing *placing, int32_t process,
                         int32_t from)
{
    int32_t count = placing->places->count;

    for (int32_t i = 0; i < count; i++) {
        int32_t place = from + i < count ? from + i : from + i - count;

        if (nw_placing_fits(placing, process, place))
            return place;
    }
    return -1;
}

static nw_status in_turn(struct nw_placing *placing, int32_t step)
{
    int32_t at = 0;

    for (int32_t p = 0; p < placing->count; p++) {
        if (placing->place[p] >= 0)
            continue;
        at = find_room(placing, p, at);
        if (at < 0)
            return full(p);
        nw_placing_put(placing, p, at);
        at = (at + step) % placing->places->count;
    }
    return NW_OK;
}

nw_status nw_place_block(struct nw_placing *placing)
{
    return in_turn(placing, 0);
}

nw_status nw_place_cyclic(struct nw_placing *placing)
{
    return in_turn(placing, 1);
}

/* Every seat equally likely: a place with room for five has five. */
static nw_status deal_seats(struct nw_placing *placing, int32_t **out,
                            size_t *count)
{
    const struct nw_rooms *rooms = &placing->rooms;
    size_t total = 0, at = 0;
    nw_status status;

    for (int32_t p = 0; p < rooms->count; p++)
        total += (size_t)rooms->room[p];
    status = nw_alloc(total, sizeof **out, out);
    if (status)
        return status;
    for (int32_t p = 0; p < rooms->count; p++)
        for (int32_t i = 0; i < rooms->room[p]; i++)
            (*out)[at++] = p;
    nw_random_shuffle(placing->random, *out, total);
    *count = total;
    return NW_OK;
}

nw_status nw_place_random(struct nw_placing *placing)
{
    int32_t *seat;
    size_t count, at = 0;
    nw_status status = deal_seats(placing, &seat, &count);

    if (status)
        return status;
    for (int32_t p = 0; !status && p < placing->count; p++) {
        int32_t place;

        if (placing->place[p] >= 0)
            continue;
        place = count ? find_room(placing, p, seat[at++ % count]) : -1;
        if (place < 0)
            status = full(p);
        else
            nw_placing_put(placing, p, place);
    }
    free(seat);
    return status;
}

nw_status nw_placing_begin(struct nw_placing *placing)
{
    for (int32_t p = 0; placing->hint && p < placing->count; p++) {
        int32_t place = placing->hint[p];

        if (placing->place[p] < 0 && place >= 0 &&
            nw_placing_fits(placing, p, place))
            nw_placing_put(placing, p, place);
    }
    return nw_place_block(placing);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the room left in places while ranks are put on them. */
#include "map/problem/free_slots.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

static int64_t pairs(const struct nw_rooms *rooms, int32_t place)
{
    int32_t room = rooms->room[place], gpu_room = rooms->gpu_room[place];

    return room < gpu_room ? room : gpu_room;
}

nw_status nw_rooms_init(struct nw_rooms *rooms, int32_t count,
                        const int32_t *room, const int32_t *gpu_room)
{
    size_t n = (size_t)count;
    nw_status status;

    *rooms = (struct nw_rooms){.count = count};
    status = nw_alloc(n, sizeof *rooms->room, &rooms->room);
    if (!status && gpu_room)
        status = nw_alloc(n, sizeof *rooms->gpu_room, &rooms->gpu_room);
    if (status)
        return status;
    memcpy(rooms->room, room, n * sizeof *room);
    if (gpu_room)
        memcpy(rooms->gpu_room, gpu_room, n * sizeof *gpu_room);
    nw_rooms_expect(rooms, 0);
    return NW_OK;
}

void nw_rooms_expect(struct nw_rooms *rooms, int64_t gpu_ranks)
{
    rooms->spare = -gpu_ranks;
    for (int32_t p = 0; rooms->gpu_room && p < rooms->count; p++)
        rooms->spare += pairs(rooms, p);
}

void nw_rooms_fini(struct nw_rooms *rooms)
{
    free(rooms->room);
    free(rooms->gpu_room);
    *rooms = (struct nw_rooms){0};
}

bool nw_rooms_fits(const struct nw_rooms *rooms, int32_t place, bool gpu)
{
    if (rooms->room[place] <= 0)
        return false;
    if (!rooms->gpu_room)
        return true;
    if (gpu)
        return rooms->gpu_room[place] > 0;
    return rooms->room[place] > rooms->gpu_room[place] || rooms->spare > 0;
}

void nw_rooms_change(struct nw_rooms *rooms, int32_t place, bool gpu, int by)
{
    int64_t before = pairs(rooms, place);

    rooms->room[place] += by;
    rooms->gpu_room[place] += gpu ? by : 0;
    rooms->spare += pairs(rooms, place) - before - (gpu ? by : 0);
}

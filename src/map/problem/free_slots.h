/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Room left in places, counted twice: for any rank, and for ranks with a GPU.
 * A rank without one never takes the last core beside a GPU that another rank
 * still needs, so that whoever asks rank by rank always ends with all placed.
 */
#ifndef NW_MAP_PROBLEM_FREE_SLOTS_H
#define NW_MAP_PROBLEM_FREE_SLOTS_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stdint.h>

struct nw_rooms {
    int32_t count;
    int32_t *room, *gpu_room; /* [count]; gpu_room NULL where none is asked */
    int64_t spare;            /* GPU places beyond the GPU ranks to come */
};

/* Copies; gpu_room may be NULL. gpu_ranks is how many will come. */
NW_MUST_CHECK nw_status nw_rooms_init(struct nw_rooms *rooms, int32_t count,
                                      const int32_t *room,
                                      const int32_t *gpu_room);
void nw_rooms_expect(struct nw_rooms *rooms, int64_t gpu_ranks);
void nw_rooms_fini(struct nw_rooms *rooms);
bool nw_rooms_fits(const struct nw_rooms *rooms, int32_t place, bool gpu);
/* Where GPUs are counted, too. */
void nw_rooms_change(struct nw_rooms *rooms, int32_t place, bool gpu, int by);

static inline void nw_rooms_take(struct nw_rooms *rooms, int32_t place,
                                 bool gpu)
{
    if (rooms->gpu_room)
        nw_rooms_change(rooms, place, gpu, -1);
    else
        rooms->room[place]--;
}

static inline void nw_rooms_give(struct nw_rooms *rooms, int32_t place,
                                 bool gpu)
{
    if (rooms->gpu_room)
        nw_rooms_change(rooms, place, gpu, 1);
    else
        rooms->room[place]++;
}

#endif

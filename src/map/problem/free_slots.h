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

struct nw_free_slots {
    int32_t count;
    int32_t *capacity,
        *gpu_capacity; /* [count]; gpu_room NULL where none is asked */
    int64_t spare;     /* GPU places beyond the GPU ranks to come */
};

/* Copies; gpu_room may be NULL. gpu_ranks is how many will come. */
NW_MUST_CHECK nw_status nw_free_slots_init(struct nw_free_slots *free_slots,
                                           int32_t count,
                                           const int32_t *capacity,
                                           const int32_t *gpu_capacity);
void nw_free_slots_expect(struct nw_free_slots *free_slots, int64_t gpu_ranks);
void nw_free_slots_fini(struct nw_free_slots *free_slots);
bool nw_free_slots_fits(const struct nw_free_slots *free_slots, int32_t place,
                        bool gpu);
/* Where GPUs are counted, too. */
void nw_free_slots_change(struct nw_free_slots *free_slots, int32_t place,
                          bool gpu, int by);

static inline void nw_free_slots_take(struct nw_free_slots *free_slots,
                                      int32_t place, bool gpu)
{
    if (free_slots->gpu_capacity)
        nw_free_slots_change(free_slots, place, gpu, -1);
    else
        free_slots->capacity[place]--;
}

static inline void nw_free_slots_give(struct nw_free_slots *free_slots,
                                      int32_t place, bool gpu)
{
    if (free_slots->gpu_capacity)
        nw_free_slots_change(free_slots, place, gpu, 1);
    else
        free_slots->capacity[place]++;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Free slots of each place, counted separately for all ranks and for ranks with
 * a GPU. A rank without a GPU never takes the last core beside a GPU that
 * another rank still needs, so that placing rank by rank always succeeds.
 */
#ifndef NW_MAP_PROBLEM_FREE_SLOTS_H
#define NW_MAP_PROBLEM_FREE_SLOTS_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stdint.h>

/* The free slots of `count` places. */
struct nw_free_slots {
    int32_t count;
    int32_t *capacity, *gpu_capacity; /* [count] free slots; gpu_capacity is
                                         NULL if no rank uses a GPU */
    int64_t spare; /* free pairs of core and GPU beyond those that ranks
                      still to be placed need */
};

/* nw_free_slots_init copies both arrays; gpu_capacity may be NULL.
 * nw_free_slots_expect sets how many ranks with a GPU are still to be placed.
 */
NW_MUST_CHECK nw_status nw_free_slots_init(struct nw_free_slots *free_slots,
                                           int32_t count,
                                           const int32_t *capacity,
                                           const int32_t *gpu_capacity);
void nw_free_slots_expect(struct nw_free_slots *free_slots, int64_t gpu_ranks);
void nw_free_slots_fini(struct nw_free_slots *free_slots);
/* Returns true if a place has a free slot for a rank, with a GPU if `gpu` is
 * set. */
bool nw_free_slots_fits(const struct nw_free_slots *free_slots, int32_t place,
                        bool gpu);
/* Adds `by` (1 or -1) free slots to a place and updates `spare`;
 * nw_free_slots_take and nw_free_slots_give call it if GPUs are counted. */
void nw_free_slots_change(struct nw_free_slots *free_slots, int32_t place,
                          bool gpu, int by);

/* Takes a free slot of a place for a rank, with a GPU if `gpu` is set. */
static inline void nw_free_slots_take(struct nw_free_slots *free_slots,
                                      int32_t place, bool gpu)
{
    if (free_slots->gpu_capacity)
        nw_free_slots_change(free_slots, place, gpu, -1);
    else
        free_slots->capacity[place]--;
}

/* Frees the slot of a rank on a place again. */
static inline void nw_free_slots_give(struct nw_free_slots *free_slots,
                                      int32_t place, bool gpu)
{
    if (free_slots->gpu_capacity)
        nw_free_slots_change(free_slots, place, gpu, 1);
    else
        free_slots->capacity[place]++;
}

#endif

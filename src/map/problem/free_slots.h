/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Free slots of each place (a host or another part of the machine), counted
 * separately for all ranks and for ranks with a GPU. A rank without a GPU never
 * takes the last core beside a GPU that another rank still needs, so that
 * assigning rank by rank always succeeds.
 */
#ifndef NW_MAP_PROBLEM_FREE_SLOTS_H
#define NW_MAP_PROBLEM_FREE_SLOTS_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stdint.h>

/* The free slots of `count` places. */
struct nw_free_slots {
    int32_t count;
    /* [count] how many more ranks each place takes; how many more with a GPU
     * (NULL: no rank uses a GPU) */
    int32_t *capacity, *gpu_capacity;
    int64_t spare; /* how many more ranks with a GPU all places take than are
                      still to be assigned */
};

/* nw_free_slots_init sets the free slots to copies of both arrays; gpu_capacity
 * may be NULL. nw_free_slots_expect sets how many ranks with a GPU are still to
 * be assigned, at first 0. */
NW_MUST_CHECK nw_status nw_free_slots_init(struct nw_free_slots *free_slots,
                                           int32_t count,
                                           const int32_t *capacity,
                                           const int32_t *gpu_capacity);
void nw_free_slots_expect(struct nw_free_slots *free_slots, int64_t gpu_ranks);
void nw_free_slots_fini(struct nw_free_slots *free_slots);
/* Returns true if a place may take one more rank, which uses a GPU if `gpu` is
 * set. */
bool nw_free_slots_fits(const struct nw_free_slots *free_slots, int32_t place,
                        bool gpu);
/* Counts a rank on a place; `gpu`: the rank uses a GPU. */
void nw_free_slots_take(struct nw_free_slots *free_slots, int32_t place,
                        bool gpu);
/* Undoes nw_free_slots_take for a rank that leaves the place. */
void nw_free_slots_give(struct nw_free_slots *free_slots, int32_t place,
                        bool gpu);

#endif

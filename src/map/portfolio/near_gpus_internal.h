/* SPDX-License-Identifier: BSD-3-Clause */
/* State shared by the files that move ranks nearer to their GPUs and NICs. */
#ifndef NW_MAP_PORTFOLIO_NEAR_GPUS_INTERNAL_H
#define NW_MAP_PORTFOLIO_NEAR_GPUS_INTERNAL_H

#include "map/congestion/link_loads.h"
#include "map/congestion/slots.h"

/* Values with a smaller relative difference count as equal. */
#define NEAR_GPUS_EQUAL 1e-9

/* State while the ranks of one mapping are moved. */
struct near_gpus_work {
    const struct nw_problem *problem;
    struct nw_slots slots;
    /* filled at the first move of an endpoint that has messages */
    struct nw_link_loads loads;
    bool has_loads, moved;
    bool cores_stay;
    bool strict; /* moves must not increase nw_load_figures.power either */
    /* [slots] links between each slot and its NIC; 0 without a NIC */
    double *card;
    double *near; /* [core slots x GPU slots] distances within the host measured
                     last */
    bool *leaves; /* [ranks] the rank's core exchanges messages with other nodes
                   */
    int32_t *gpu_ranks; /* [GPU units] number of ranks that use the unit */
};

/* The slots with numbers from `first` to end - 1. */
struct near_gpus_slot_range {
    int32_t first, end;
};

/* near_gpus_moves.c */

/* Returns the core slots of a host, or its GPU slots if `gpus` is set, without
 * the slots of fixed ranks. */
struct near_gpus_slot_range
nw_near_gpus_slots_of(const struct near_gpus_work *work, int32_t host,
                      bool gpus);
/* Returns the number of links from a core or GPU to its NIC; 0 if it has no
 * NIC. `end` is the end of routes at the core or GPU. */
double nw_near_gpus_links_to_card(const nw_topology *topology,
                                  struct nw_end end);
/* Fills work->near with the distances between the core slots and the GPU slots
 * of a host. */
void nw_near_gpus_measure_host(struct near_gpus_work *work, int32_t host);

/* Returns the distance between a core slot and a GPU slot of a host: the mean
 * number of links between the cores of one and the GPUs of the other. A small
 * multiple of the links from both to their NICs is added. */
double nw_near_gpus_distance_of(const struct near_gpus_work *work, int32_t core,
                                int32_t gpu);

/* Return by how much one part of a move, or the whole move, reduces the
 * distances of ranks to their GPUs and NICs. */
double nw_near_gpus_gain_of_part(const struct near_gpus_work *work,
                                 const struct nw_moving *part);
double nw_near_gpus_gain_of(const struct near_gpus_work *work,
                            const struct nw_move *move);
/* Sets *fits to true if the move would make no cost figure of the mapping
 * worse. Does not make the move. */
NW_MUST_CHECK nw_status nw_near_gpus_try_move(struct near_gpus_work *work,
                                              const struct nw_move *move,
                                              bool *fits);
/* Makes the move, even if cost figures get worse. */
NW_MUST_CHECK nw_status nw_near_gpus_make_move(struct near_gpus_work *work,
                                               const struct nw_move *move);

/* Cost figures of the whole mapping. */
struct near_gpus_figures {
    struct nw_load_figures sums;
    double most; /* s: congestion of the most loaded link */
};
NW_MUST_CHECK nw_status nw_near_gpus_figures(struct near_gpus_work *work,
                                             struct near_gpus_figures *out);
/* Returns true if a figure of `now` is worse than in `before`. */
bool nw_near_gpus_is_worse(const struct near_gpus_work *work,
                           const struct near_gpus_figures *now,
                           const struct near_gpus_figures *before);

/* near_gpus_subtrees.c */

/* For each pair of subtrees of a host, such as NUMA nodes or PCIe switches,
 * exchanges the cores of all ranks below them, or their GPUs if `gpus` is set.
 * An exchange is made only if it brings the ranks nearer to their GPUs and NICs
 * and makes no cost figure worse. */
NW_MUST_CHECK nw_status nw_near_gpus_exchange_subtrees(
    struct near_gpus_work *work, int32_t host, bool gpus);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files that bring ranks near their GPUs and network cards. */
#ifndef NW_MAP_PORTFOLIO_NEAR_GPUS_INTERNAL_H
#define NW_MAP_PORTFOLIO_NEAR_GPUS_INTERNAL_H

#include "map/congestion/link_loads.h"
#include "map/congestion/slots.h"

#define NEAR_GPUS_EQUAL 1e-9 /* relative difference of equal figures */

struct near_gpus_work {
    const struct nw_problem *problem;
    struct nw_slots slots;
    struct nw_link_loads loads; /* made for the first move that needs it */
    bool has_loads, moved;
    bool cores_stay;
    bool strict;        /* the sum of powers of the links' loads may not rise */
    double *card;       /* [slots] links to the card, where known */
    double *near;       /* of one host: [its core x its GPU slots] */
    bool *leaves;       /* [ranks] sends host messages to other nodes */
    int32_t *gpu_ranks; /* [GPU units] ranks that have it */
};

struct near_gpus_slot_range {
    int32_t first, end;
};

/* near_gpus_moves.c */

/* The core slots of a host, or its GPU slots. */
struct near_gpus_slot_range
nw_near_gpus_slots_of(const struct near_gpus_work *work, int32_t host,
                      bool gpus);
/* Number of links between an end and its network card; 0 without a card. */
double nw_near_gpus_links_to_card(const nw_topology *topology,
                                  struct nw_end end);
/* Fills `near` for a host. */
void nw_near_gpus_measure_host(struct near_gpus_work *work, int32_t host);

/* How far a core and a GPU are from each other and from their cards. */
double nw_near_gpus_distance_of(const struct near_gpus_work *work, int32_t core,
                                int32_t gpu);

/* The move of an endpoint to a slot, and of the slot's owner to its slot. */
struct nw_move nw_near_gpus_move_of(const struct nw_slots *slots,
                                    int32_t endpoint, int32_t to);
/* How much nearer one part of a move comes. */
double nw_near_gpus_gain_of_part(const struct near_gpus_work *work,
                                 const struct nw_moving *part);
double nw_near_gpus_gain_of(const struct near_gpus_work *work,
                            const struct nw_move *move);
/* False if an element would bear more than its limit of load. */
bool nw_near_gpus_is_allowed(const struct near_gpus_work *work,
                             const struct nw_move *move);
/* Sets `fits` if no figure gets worse. */
NW_MUST_CHECK nw_status nw_near_gpus_try_move(struct near_gpus_work *work,
                                              const struct nw_move *move,
                                              bool *fits);
/* Makes the move, also if figures get worse. */
NW_MUST_CHECK nw_status nw_near_gpus_make_move(struct near_gpus_work *work,
                                               const struct nw_move *move);

/* Figures of the whole mapping. */
struct near_gpus_figures {
    struct nw_load_figures sums;
    double most; /* s: congestion of the most loaded link */
};
NW_MUST_CHECK nw_status nw_near_gpus_figures(struct near_gpus_work *work,
                                             struct near_gpus_figures *out);
bool nw_near_gpus_is_worse_than(const struct near_gpus_work *work,
                                const struct near_gpus_figures *before);

/* near_gpus_subtrees.c */

/* All ranks below two parts of a host, such as NUMA nodes or PCIe switches,
 * exchange their cores or their GPUs if that brings them nearer. */
NW_MUST_CHECK nw_status nw_near_gpus_exchange_subtrees(
    struct near_gpus_work *work, int32_t host, bool gpus);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The three phases of MAGC: place ranks on nodes, then on cores, then on GPUs.
 */
#ifndef NW_MAP_PHASES_PHASES_H
#define NW_MAP_PHASES_PHASES_H

#include "map/placement/placement.h"

/* Settings of the phases. placer[i] places in phase i + 1; NULL in phase 2 or
 * 3: that phase assigns units as the default mapping does. `kinds`: mask of
 * enum nw_kind, the traffic that counts in phase 1. */
struct nw_phases {
    nw_placer *placer[3];
    unsigned kinds;
    bool by_distance; /* true: nw_place_partition prefers fewer hop-bytes and,
                         if they are equal, less congestion; false: less
                         congestion and, if it is equal, fewer hop-bytes */
};

/* Runs phases 1 and 2, and phase 3 if ranks use GPUs, and fills `answer`, which
 * the caller has initialised and left empty. Adds their steps and times to
 * those in `report`. */
NW_MUST_CHECK nw_status nw_answer_by_phases(const struct nw_problem *problem,
                                            const struct nw_phases *phases,
                                            struct nw_answer *answer,
                                            struct nw_map_report *report);

/* Runs phase 1 only: fills the hosts of `answer`. For algorithms that combine
 * phases in another way. */
NW_MUST_CHECK nw_status nw_phase_hosts(const struct nw_problem *problem,
                                       const struct nw_phases *phases,
                                       struct nw_answer *answer,
                                       struct nw_map_report *report);
/* Runs phase 2, or phase 3 if `gpus` is true, on an answer whose hosts are set.
 */
NW_MUST_CHECK nw_status nw_phase_units(const struct nw_problem *problem,
                                       const struct nw_phases *phases,
                                       struct nw_answer *answer,
                                       struct nw_map_report *report, bool gpus);

/* Fixes each process p with place[p] >= 0 to this place. If `place` is NULL,
 * does nothing. */
NW_MUST_CHECK nw_status nw_phase_put_fixed(struct nw_placement *placement,
                                           const int32_t *place);
/* Makes one place of each host: its end of routes is the first NIC of the node,
 * or the node's root if it has no NIC. If the machine has a network, this NIC
 * has the bandwidth of all NICs of the node together. The caller calls
 * nw_places_fini. */
NW_MUST_CHECK nw_status nw_places_of_hosts(const struct nw_problem *problem,
                                           struct nw_places *places);
/* Sets placement->affinity: the affinity cost, in seconds, of each process on
 * each place of one node. It stays NULL if --affinity is 0 or if the machine
 * has no links. `ranks`: ranks of the processes; `gpus`: places are GPU units.
 * Defined in gpu_affinity.c. */
NW_MUST_CHECK nw_status nw_gpu_affinity(const struct nw_problem *problem,
                                        const struct nw_answer *answer,
                                        struct nw_ints ranks, bool gpus,
                                        struct nw_placement *placement);
#endif

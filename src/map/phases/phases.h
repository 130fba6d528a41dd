/* SPDX-License-Identifier: BSD-3-Clause */
/* The three phases of MAGC: place ranks on nodes, then on cores, then on GPUs.
 */
#ifndef NW_MAP_PHASES_PHASES_H
#define NW_MAP_PHASES_PHASES_H

#include "map/placement/placement.h"

/* The placer of each phase; NULL in phase 2 or 3: place as the default mapping
 * does. `kinds`: kinds of traffic that count in phase 1. */
struct nw_phases {
    nw_placer *placer[3];
    unsigned kinds;
    bool by_distance; /* partitions lower hop-bytes before congestion */
};

/* Runs the three phases and fills `answer`, which must be initialised and
 * empty. Adds to the report's steps and times. */
NW_MUST_CHECK nw_status nw_answer_by_phases(const struct nw_problem *problem,
                                            const struct nw_phases *phases,
                                            struct nw_answer *answer,
                                            struct nw_map_report *report);

/* Runs phase 1 only, for algorithms that combine phases in another way. */
NW_MUST_CHECK nw_status nw_phase_hosts(const struct nw_problem *problem,
                                       const struct nw_phases *phases,
                                       struct nw_answer *answer,
                                       struct nw_map_report *report);
/* Runs phase 2, or phase 3 if `gpus` is set. */
NW_MUST_CHECK nw_status nw_phase_units(const struct nw_problem *problem,
                                       const struct nw_phases *phases,
                                       struct nw_answer *answer,
                                       struct nw_map_report *report, bool gpus);

/* Makes one place for each host, at a NIC of its node, with the bandwidth of
 * all NICs of the node. */
NW_MUST_CHECK nw_status nw_places_of_hosts(const struct nw_problem *problem,
                                           struct nw_places *places);
/* Computes the seconds that affinity adds for each (process, place) of one
 * node; *out is NULL without affinity. The caller frees *out. Defined in
 * gpu_affinity.c. */
NW_MUST_CHECK nw_status nw_gpu_affinity(const struct nw_problem *problem,
                                        const struct nw_answer *answer,
                                        const struct nw_placement *placement,
                                        struct nw_ints ranks, bool gpus,
                                        double **out);
#endif

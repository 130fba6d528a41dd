/* SPDX-License-Identifier: BSD-3-Clause */
/* The three phases of MAGC: ranks to nodes, to cores, to GPUs. */
#ifndef NW_MAP_PHASES_PHASES_H
#define NW_MAP_PHASES_PHASES_H

#include "map/placement/placement.h"

/* The placer of each phase; NULL in phase 2 or 3: as the default mapping does.
 * `kinds`: traffic that counts in phase 1. */
struct nw_phases {
    nw_placer *placer[3];
    unsigned kinds;
    bool by_distance; /* partitions lower hop-bytes before congestion */
};

/* Fills `answer` (initialised, empty). Adds to report's steps and times. */
NW_MUST_CHECK nw_status nw_answer_by_phases(const struct nw_problem *problem,
                                            const struct nw_phases *phases,
                                            struct nw_answer *answer,
                                            struct nw_map_report *report);

/* Single phases, for algorithms that combine them. */
NW_MUST_CHECK nw_status nw_phase_hosts(const struct nw_problem *problem,
                                       const struct nw_phases *phases,
                                       struct nw_answer *answer,
                                       struct nw_map_report *report);
/* Phase 2, or phase 3 if `gpus`. */
NW_MUST_CHECK nw_status nw_phase_units(const struct nw_problem *problem,
                                       const struct nw_phases *phases,
                                       struct nw_answer *answer,
                                       struct nw_map_report *report, bool gpus);

/* The NICs of all nodes as places, those of a node taken together. */
NW_MUST_CHECK nw_status nw_places_of_hosts(const struct nw_problem *problem,
                                           struct nw_places *places);
/* Seconds that affinity adds to each (process, place) of one node; *out is NULL
 * without affinity. The caller frees it. gpu_affinity.c */
NW_MUST_CHECK nw_status nw_gpu_affinity(const struct nw_problem *problem,
                                        const struct nw_answer *answer,
                                        const struct nw_placement *placement,
                                        struct nw_ints ranks, bool gpus,
                                        double **out);
#endif

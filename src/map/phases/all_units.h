/* SPDX-License-Identifier: BSD-3-Clause */
/* Places ranks on the units of all nodes at once. */
#ifndef NW_MAP_PHASES_ALL_UNITS_H
#define NW_MAP_PHASES_ALL_UNITS_H

#include "map/phases/phases.h"

struct nw_all_units {
    nw_placer *placer;
    unsigned kinds; /* kinds of traffic that count */
    bool gpus;   /* onto GPU units, for ranks that use one; otherwise cores */
    bool paired; /* no more units per node than it has pairs of free core and
                    free GPU, if the pattern uses GPUs */
    const struct nw_answer *start; /* initial answer, or NULL */
};

/* Fills host[] and core[] of the ranks that take part; with `gpus` gpu[] and
 * gpu_host[] instead. A unit is -1 for fixed ranks. */
NW_MUST_CHECK nw_status nw_all_units_place(const struct nw_problem *problem,
                                           const struct nw_all_units *flat,
                                           struct nw_answer *answer,
                                           struct nw_map_report *report);

#endif

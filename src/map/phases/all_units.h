/* SPDX-License-Identifier: BSD-3-Clause */
/* Places ranks on the units of all nodes at once. */
#ifndef NW_MAP_PHASES_ALL_UNITS_H
#define NW_MAP_PHASES_ALL_UNITS_H

#include "map/phases/phases.h"

/* Settings of nw_all_units_place. */
struct nw_all_units {
    nw_placer *placer;
    unsigned kinds; /* mask of enum nw_kind: the traffic that counts */
    bool gpus;   /* true: place the ranks with GPUs on GPU units; false: place
                    all ranks on core units */
    bool paired; /* if the pattern uses GPUs, a node offers only as many units
                    as it has pairs of a free core and a free GPU */
    const struct nw_answer *start; /* answer from which the placer starts; NULL:
                                      none */
};

/* Places ranks on units: fills host[rank] and core[rank] of the answer for all
 * ranks, or gpu_host[rank] and gpu[rank] for the ranks with GPUs if `gpus` is
 * set. The unit (core or gpu) of a fixed rank is -1. */
NW_MUST_CHECK nw_status nw_all_units_place(const struct nw_problem *problem,
                                           const struct nw_all_units *flat,
                                           struct nw_answer *answer,
                                           struct nw_map_report *report);

#endif

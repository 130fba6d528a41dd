/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks on the units of the whole machine at once, nodes or not. */
#ifndef NW_MAP_PHASES_ALL_UNITS_H
#define NW_MAP_PHASES_ALL_UNITS_H

#include "map/phases/phases.h"

struct nw_all_units {
    nw_placer *placer;
    unsigned kinds; /* the traffic looked at */
    bool gpus;      /* onto GPU units, by ranks that want one; else cores */
    bool paired;    /* no more units of a node than it has pairs of core and
                       GPU room, where the pattern uses GPUs */
    const struct nw_answer *start; /* to begin from, or NULL */
};

/* Fills host[] and unit[] of the ranks that take part, [rank_count] each;
 * unit is -1 for what is fixed. */
NW_MUST_CHECK nw_status nw_all_units_place(const struct nw_problem *problem,
                                           const struct nw_all_units *flat,
                                           int32_t *host, int32_t *unit,
                                           struct nw_map_report *report);

#endif

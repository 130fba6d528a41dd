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
    bool paired; /* if ranks use GPUs, a node takes only as many ranks as it has
                    both cores and GPUs for */
    const struct nw_answer *start; /* answer from which the placer starts; NULL:
                                      none */
};

/* Places ranks on units: fills host[rank] and core[rank] of the answer for all
 * ranks, or gpu_host[rank] and gpu[rank] for the ranks with GPUs if `gpus` is
 * set; gpu_host must be allocated (nw_answer_allow_remote). A rank that is
 * fixed to a core (or GPU) gets -1 as its unit. */
NW_MUST_CHECK nw_status nw_all_units_place(const struct nw_problem *problem,
                                           const struct nw_all_units *flat,
                                           struct nw_answer *answer,
                                           struct nw_map_report *report);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks divided over groups of hosts each two of which have links of their own,
 * as those of a dragonfly, so that the fullest of these links carries least.
 */
#ifndef NW_MAP_GROUPS_DRAGONFLY_H
#define NW_MAP_GROUPS_DRAGONFLY_H

#include "map/congestion/objectives.h"

enum nw_dragonfly_result {
    NW_DRAGONFLY_NONE,    /* another machine */
    NW_DRAGONFLY_NO_GAIN, /* no division has less than `below` */
    NW_DRAGONFLY_DIVIDED
};

/* Where congestion is lowered on such a machine: seats the ranks by the best
 * divisions that a short search finds, each searched further within its
 * groups. The fullest of the groups' links has less than `below` s; else the
 * seats stay. */
NW_MUST_CHECK nw_status nw_slots_divide_dragonfly(
    struct nw_slots *slots, const struct nw_objectives *objectives,
    double below, enum nw_dragonfly_result *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides ranks over groups of hosts, each two of which have links of their
 * own, as in a dragonfly, so that the most loaded pair of groups carries least.
 */
#ifndef NW_MAP_GROUPS_DRAGONFLY_H
#define NW_MAP_GROUPS_DRAGONFLY_H

#include "map/congestion/objectives.h"

enum nw_dragonfly_result {
    NW_DRAGONFLY_NONE,    /* the machine has no such groups */
    NW_DRAGONFLY_NO_GAIN, /* no division is below `below` */
    NW_DRAGONFLY_DIVIDED
};

/* If congestion is lowered on such a machine: assigns the ranks by the best
 * divisions that a short search finds, and anneals each within its groups. The
 * most loaded link between groups then carries less than `below` s; otherwise
 * nothing changes. */
NW_MUST_CHECK nw_status nw_slots_divide_dragonfly(
    struct nw_slots *slots, const struct nw_objectives *objectives,
    double below, enum nw_dragonfly_result *out);

#endif

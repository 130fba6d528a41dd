/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides ranks over the groups of a dragonfly, where each pair of groups has
 * links of its own, so that the most loaded pair of groups carries least.
 */
#ifndef NW_MAP_GROUPS_DRAGONFLY_H
#define NW_MAP_GROUPS_DRAGONFLY_H

#include "map/congestion/objectives.h"

enum nw_dragonfly_result {
    NW_DRAGONFLY_NONE,    /* the machine has no such groups */
    NW_DRAGONFLY_NO_GAIN, /* no division lowers the load below `below` */
    NW_DRAGONFLY_DIVIDED
};

/* If the objective is congestion and the machine is a dragonfly: assigns the
 * ranks by the best divisions that a short search finds, and anneals each
 * division within its groups. Sets *out to NW_DRAGONFLY_DIVIDED if the most
 * loaded link between groups then carries less than `below` seconds; otherwise
 * nothing changes. */
NW_MUST_CHECK nw_status nw_slots_divide_dragonfly(
    struct nw_slots *slots, const struct nw_objectives *objectives,
    double below, enum nw_dragonfly_result *out);

#endif

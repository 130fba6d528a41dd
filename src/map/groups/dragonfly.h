/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides the ranks over the groups of a dragonfly, where each pair of groups
 * has links of its own, so that the most loaded pair of groups carries least.
 */
#ifndef NW_MAP_GROUPS_DRAGONFLY_H
#define NW_MAP_GROUPS_DRAGONFLY_H

#include "map/congestion/objectives.h"

enum nw_dragonfly_result {
    NW_DRAGONFLY_NONE,    /* no search: no dragonfly, or no grid of ranks */
    NW_DRAGONFLY_NO_GAIN, /* no division needs less than `below` seconds */
    NW_DRAGONFLY_DIVIDED
};

/* If the objective is congestion, the machine is a dragonfly and the ranks form
 * a grid: assigns the ranks by the best divisions that a short search finds,
 * and anneals each division within its groups. Sets *out to
 * NW_DRAGONFLY_DIVIDED if the most loaded pair of groups then needs less than
 * `below` seconds for its traffic; otherwise the assignment stays as it is. */
NW_MUST_CHECK nw_status nw_slots_divide_dragonfly(
    struct nw_slots *slots, const struct nw_objectives *objectives,
    double below, enum nw_dragonfly_result *out);

#endif

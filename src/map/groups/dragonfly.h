/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides the ranks over the groups of a dragonfly, where each pair of groups
 * has links that no other pair uses, so that these links of the most loaded
 * pair need the least time.
 */
#ifndef NW_MAP_GROUPS_DRAGONFLY_H
#define NW_MAP_GROUPS_DRAGONFLY_H

#include "map/congestion/objectives.h"

enum nw_dragonfly_result {
    NW_DRAGONFLY_NONE,    /* no search: no dragonfly, no grid of ranks, or other
                             conditions fail */
    NW_DRAGONFLY_NO_GAIN, /* no division needs less than `below` seconds */
    NW_DRAGONFLY_DIVIDED
};

/* Assigns the ranks by the best divisions that a short search finds, anneals
 * each of these assignments within its groups and keeps the best one. All these
 * conditions must hold:
 * - divisions are worth a search (nw_division_applies);
 * - the machine is a dragonfly, each pair of its groups has links that no other
 *   pair uses, and hosts at the smallest distance form groups
 *   (nw_switch_groups_nearest);
 * - the ranks form a grid.
 * Sets *out to NW_DRAGONFLY_DIVIDED if the most loaded pair of groups then
 * needs less than `below` seconds for its traffic; otherwise the assignment
 * stays as it is. */
NW_MUST_CHECK nw_status nw_slots_divide_dragonfly(
    struct nw_slots *slots, const struct nw_objectives *objectives,
    double below, enum nw_dragonfly_result *out);

#endif

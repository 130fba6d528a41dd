/* SPDX-License-Identifier: BSD-3-Clause */
/* The switches above the leaf switches of a tree, and how slow their uplinks
 * are relative to the uplinks of leaf switches. */
#ifndef NW_MAP_GROUPS_SWITCH_LEVELS_H
#define NW_MAP_GROUPS_SWITCH_LEVELS_H

#include "map/groups/switch_groups.h"

#define NW_SWITCH_LEVELS_MAX 3

/* The levels of switches, from the lowest up. */
struct nw_switch_levels {
    int count; /* number of levels; the switches of level 0 are the groups of
                  hosts themselves */
    struct nw_switch_level {
        /* switch of this level above each group of hosts */
        int32_t of[NW_SWITCH_GROUPS_MAX];
        int32_t parts;
        double weight; /* weight of a byte that leaves a switch of this level:
                          time relative to level 0, which has weight 1 */
    } level[NW_SWITCH_LEVELS_MAX];
};

/* Sets `levels` to level 0 alone, in which each group of hosts is a switch of
 * its own. */
void nw_switch_levels_lowest(const struct nw_switch_groups *groups,
                             struct nw_switch_levels *levels);
/* Finds the levels of switches above the groups of hosts that
 * nw_switch_groups_nearest made. The result is level 0 alone if the groups are
 * equally far from each other, or if no switches above them are found. */
NW_MUST_CHECK nw_status nw_switch_levels_find(
    const struct nw_slots *slots, const struct nw_switch_groups *groups,
    struct nw_switch_levels *levels);

#endif

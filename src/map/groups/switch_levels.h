/* SPDX-License-Identifier: BSD-3-Clause */
/* The switches above the leaf switches of a tree, and the speed of their
 * uplinks relative to the uplinks of leaf switches. */
#ifndef NW_MAP_GROUPS_SWITCH_LEVELS_H
#define NW_MAP_GROUPS_SWITCH_LEVELS_H

#include "map/groups/switch_groups.h"

#define NW_SWITCH_LEVELS_MAX 3

/* The levels of switches, from the lowest up. */
struct nw_switch_levels {
    int count; /* number of levels; level 0 consists of the groups themselves */
    struct nw_switch_level {
        int32_t of[NW_SWITCH_GROUPS_MAX]; /* switch of this level above each
                                             group */
        int32_t parts;
        double weight; /* weight of a byte that leaves a switch; 1 at level 0 */
    } level[NW_SWITCH_LEVELS_MAX];
};

/* Sets `levels` to level 0 only, in which each group is a switch of its own. */
void nw_switch_levels_lowest(const struct nw_switch_groups *groups,
                             struct nw_switch_levels *levels);
/* Finds the levels above the groups of nw_switch_groups_nearest. The result is
 * level 0 alone if the groups are equally far from each other, or if no
 * switches above them are found. */
NW_MUST_CHECK nw_status nw_switch_levels_find(
    const struct nw_slots *slots, const struct nw_switch_groups *groups,
    struct nw_switch_levels *levels);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The switches above the leaf switches of a tree, and how fast their links up
 * are beside those of leaves. */
#ifndef NW_MAP_GROUPS_SWITCH_LEVELS_H
#define NW_MAP_GROUPS_SWITCH_LEVELS_H

#include "map/groups/switch_groups.h"

#define NW_SWITCH_LEVELS_MAX 3

struct nw_switch_levels {
    int count; /* the first are the pens themselves */
    struct nw_switch_level {
        int32_t of[NW_SWITCH_GROUPS_MAX]; /* switch that pen p is below */
        int32_t parts;
        double weight; /* of a byte that leaves one: 1 of the first */
    } level[NW_SWITCH_LEVELS_MAX];
};

/* That of the pens alone. */
void nw_switch_levels_lowest(const struct nw_switch_groups *groups,
                             struct nw_switch_levels *levels);
/* `groups` of nw_switch_groups_nearest. One storey where pens are equally far
 * from each other, or not below switches. */
NW_MUST_CHECK nw_status nw_switch_levels_find(
    const struct nw_slots *slots, const struct nw_switch_groups *groups,
    struct nw_switch_levels *levels);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The switches above the leaf switches of a tree, and how fast their links up
 * are beside those of leaves. */
#ifndef NW_MAP_GROUPS_SWITCH_LEVELS_H
#define NW_MAP_GROUPS_SWITCH_LEVELS_H

#include "map/groups/switch_groups.h"

#define NW_STOREYS_MOST 3

struct nw_storeys {
    int count; /* the first are the pens themselves */
    struct nw_storey {
        int32_t of[NW_PENS_MOST]; /* switch that pen p is below */
        int32_t parts;
        double weight; /* of a byte that leaves one: 1 of the first */
    } storey[NW_STOREYS_MOST];
};

/* That of the pens alone. */
void nw_storeys_lowest(const struct nw_pens *pens, struct nw_storeys *storeys);
/* `pens` of nw_pens_nearest. One storey where pens are equally far from each
 * other, or not below switches. */
NW_MUST_CHECK nw_status nw_storeys_find(const struct nw_seats *seats,
                                        const struct nw_pens *pens,
                                        struct nw_storeys *storeys);

#endif

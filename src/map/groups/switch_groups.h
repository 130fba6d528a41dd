/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of hosts: the hosts of one leaf switch of a tree, or of one group of a
 * dragonfly. */
#ifndef NW_MAP_GROUPS_SWITCH_GROUPS_H
#define NW_MAP_GROUPS_SWITCH_GROUPS_H

#include "map/congestion/slots.h"
#include "base/random.h"

#define NW_SWITCH_GROUPS_MAX 32
#define NW_SWITCH_GROUPS_HOSTS_MAX 512

/* The groups and their slots. */
struct nw_switch_groups {
    int32_t *group; /* [hosts] group of a host */
    int32_t parts;
    /* the slots of group p are first[p] .. first[p + 1] - 1 */
    int32_t first[NW_SWITCH_GROUPS_MAX + 1];
};

/* Groups the hosts whose distance from each other is the smallest one on the
 * machine. Returns false if there is only one group, or if there are too many.
 */
bool nw_switch_groups_nearest(const struct nw_slots *slots,
                              struct nw_switch_groups *groups);

/* Groups the hosts of a dragonfly by its groups; returns false on other
 * machines. */
bool nw_switch_groups_dragonfly(const struct nw_slots *slots,
                                struct nw_switch_groups *groups);

/* Fills far[parts x parts] with the distances between groups of
 * nw_switch_groups_nearest. */
void nw_switch_groups_measure(const struct nw_slots *slots,
                              const struct nw_switch_groups *groups,
                              double *far);

/* Assigns parts to groups so that parts that exchange much traffic are near
 * each other (assign_groups.c). part[ranks] holds groups of
 * nw_switch_groups_nearest before and after. Sets *unlike to false, and changes
 * nothing, if all groups are equally far from each other. */
NW_MUST_CHECK nw_status nw_assign_groups(const struct nw_slots *slots,
                                         const struct nw_switch_groups *groups,
                                         struct nw_random *random,
                                         int32_t *part, bool *unlike);

/* Assigns each rank, in order, to the first free core slot of group part[rank].
 * part: [ranks] */
void nw_switch_groups_assign(struct nw_slots *slots,
                             const struct nw_switch_groups *groups,
                             const int32_t *part);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of hosts: those of a leaf switch of a tree, or of a group of a
 * dragonfly. */
#ifndef NW_MAP_GROUPS_SWITCH_GROUPS_H
#define NW_MAP_GROUPS_SWITCH_GROUPS_H

#include "map/congestion/slots.h"
#include "base/random.h"

#define NW_SWITCH_GROUPS_MAX 32
#define NW_SWITCH_GROUPS_HOSTS_MAX 512

struct nw_switch_groups {
    int32_t *group; /* [hosts] group of a host */
    int32_t parts;
    int32_t first[NW_SWITCH_GROUPS_MAX +
                  1]; /* slots of group p begin at first[p] */
};

/* Groups the hosts at the least distance from each other. False if there is one
 * group, or too many. */
bool nw_switch_groups_nearest(const struct nw_slots *slots,
                              struct nw_switch_groups *groups);

/* Groups the hosts of a dragonfly; false on other machines. */
bool nw_switch_groups_dragonfly(const struct nw_slots *slots,
                                struct nw_switch_groups *groups);

/* Fills far: [parts^2], the distances of groups of nw_switch_groups_nearest. */
void nw_switch_groups_measure(const struct nw_slots *slots,
                              const struct nw_switch_groups *groups,
                              double *far);

/* Assigns parts to groups so that parts which exchange much are near each other
 * (assign_groups.c). *unlike is false if all groups are equally far. part:
 * [ranks] groups of nw_switch_groups_nearest, before and after. */
NW_MUST_CHECK nw_status nw_assign_groups(const struct nw_slots *slots,
                                         const struct nw_switch_groups *groups,
                                         struct nw_random *random,
                                         int32_t *part, bool *unlike);

/* Assigns each rank, in order, to the first free core slot of its part. part:
 * [ranks] */
void nw_switch_groups_assign(struct nw_slots *slots,
                             const struct nw_switch_groups *groups,
                             const int32_t *part);

#endif

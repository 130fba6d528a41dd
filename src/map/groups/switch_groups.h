/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts that belong together: leaf switches of a tree, groups of a dragonfly.
 */
#ifndef NW_MAP_GROUPS_SWITCH_GROUPS_H
#define NW_MAP_GROUPS_SWITCH_GROUPS_H

#include "map/congestion/slots.h"
#include "base/random.h"

#define NW_SWITCH_GROUPS_MAX 32
#define NW_SWITCH_GROUPS_HOSTS_MAX 512

struct nw_switch_groups {
    int32_t *group; /* [hosts] the part that a host belongs to */
    int32_t parts;
    int32_t first[NW_SWITCH_GROUPS_MAX + 1]; /* seats of part p: first[p] .. */
};

/* Hosts as near to each other as any. False where that makes no groups, one,
 * or too many. */
bool nw_switch_groups_nearest(const struct nw_slots *slots,
                              struct nw_switch_groups *groups);

/* The groups of a dragonfly, likewise; false on other machines. */
bool nw_switch_groups_dragonfly(const struct nw_slots *slots,
                                struct nw_switch_groups *groups);

/* How far hosts of two parts are from each other; parts of
 * nw_switch_groups_nearest. far: [parts^2] */
void nw_switch_groups_measure(const struct nw_slots *slots,
                              const struct nw_switch_groups *groups,
                              double *far);

/* assign_groups.c: parts that exchange much get pens near to each other, where
 * pens are *unlike far from each other. part: [ranks], pens of
 * nw_switch_groups_nearest before and after. */
NW_MUST_CHECK nw_status nw_assign_groups(const struct nw_slots *slots,
                                         const struct nw_switch_groups *groups,
                                         struct nw_random *random,
                                         int32_t *part, bool *unlike);

/* Seats each rank in its part, in order, on the first seats there. part:
 * [ranks], all ranks on cores alone */
void nw_switch_groups_assign(struct nw_slots *slots,
                             const struct nw_switch_groups *groups,
                             const int32_t *part);

#endif

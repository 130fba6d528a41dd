/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of hosts: the nearest ones of each host, such as those of one leaf
 * switch of a tree, or the hosts of one group of a dragonfly. */
#ifndef NW_MAP_GROUPS_SWITCH_GROUPS_H
#define NW_MAP_GROUPS_SWITCH_GROUPS_H

#include "map/congestion/slots.h"
#include "base/random.h"

#define NW_SWITCH_GROUPS_MAX 32
#define NW_SWITCH_GROUPS_HOSTS_MAX 512

/* The groups of hosts and the numbers of their core slots. */
struct nw_switch_groups {
    int32_t *group; /* [hosts] group of each host */
    int32_t parts;
    /* number of core slots in the groups before each group: group p has first[p
     * + 1] - first[p] core slots */
    int32_t first[NW_SWITCH_GROUPS_MAX + 1];
};

/* Returns the number of core slots of a group. */
static inline int32_t
nw_switch_groups_size(const struct nw_switch_groups *groups, int32_t group)
{
    return groups->first[group + 1] - groups->first[group];
}

/* Returns the smallest distance between two of n items that is larger than
 * `beyond`, or infinity. far[p x n + q] is the distance of items p > q. */
double nw_switch_groups_next_distance(const double *far, int32_t n,
                                      double beyond);

/* Joins items whose distance is at most `reach` to groups: group[p] becomes the
 * group of item p. Returns the number of groups, or 0 if this relation is not
 * transitive. Items and `far` are as in nw_switch_groups_next_distance. */
int32_t nw_switch_groups_join(const double *far, int32_t n, double reach,
                              int32_t *group);

/* Groups the hosts whose distance from each other is the smallest one between
 * any hosts, such as those of a leaf switch. A host without core slots is in
 * the group of a host that has some. Sets *found to false if this relation is
 * not transitive, or if there is only one group or too many. */
NW_MUST_CHECK nw_status nw_switch_groups_nearest(
    const struct nw_slots *slots, struct nw_switch_groups *groups, bool *found);

/* Groups the hosts of a dragonfly by the topology's own groups. A host without
 * core slots is in the group of a host that has some. Returns false on other
 * machines, if there is only one group or too many, or if a group has no slots.
 */
bool nw_switch_groups_dragonfly(const struct nw_slots *slots,
                                struct nw_switch_groups *groups);

/* Fills far[parts x parts] with the distances between the groups of hosts that
 * nw_switch_groups_nearest made. The diagonal stays as it is. */
void nw_switch_groups_measure(const struct nw_slots *slots,
                              const struct nw_switch_groups *groups,
                              double *far);

/* Sums the bandwidth of links that only one kind of traffic uses.
 * kind[p x parts + q] is the kind of the traffic from group p to group q, -1
 * for traffic whose links do not count. Adds to fast[k] the bandwidth, in bytes
 * per second, of each directed link that only traffic of kind k uses. Looks at
 * the routes between the first core slots of all hosts. */
NW_MUST_CHECK nw_status nw_switch_groups_sum_bandwidth(
    const struct nw_slots *slots, const struct nw_switch_groups *groups,
    const int32_t *kind, double *fast);

/* Chooses for each part of the ranks the group of hosts that takes it, so that
 * parts that exchange much traffic are near each other (assign_groups.c). On
 * entry, part[ranks] is the part of each rank; on return, it is the group of
 * each rank. Groups are those of nw_switch_groups_nearest. Sets *unlike to
 * true, or to false if all groups are equally far from each other; then changes
 * nothing. */
NW_MUST_CHECK nw_status nw_assign_groups(const struct nw_slots *slots,
                                         const struct nw_switch_groups *groups,
                                         struct nw_random *random,
                                         int32_t *part, bool *unlike);

/* Assigns each rank, in ascending order, to the first free core slot of the
 * group part[rank]. */
void nw_switch_groups_assign(struct nw_slots *slots,
                             const struct nw_switch_groups *groups,
                             const int32_t *part);

#endif

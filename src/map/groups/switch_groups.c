/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups hosts by distance: hosts at the smallest distance form a group, if
 * this relation is transitive. In a dragonfly with one host at each router it
 * is not, because the routers at both ends of a global link are as near as
 * routers of one group. For dragonflies, the topology's own groups can be used
 * instead. */
#include "map/groups/switch_groups.h"
#include "topology/network/networks.h"
#include "topology/topology.h"

#include <math.h>
#include <string.h>

/* Returns the distance between two hosts, measured from their first cores. */
static double switch_groups_distance(const struct nw_slots *slots, int32_t a,
                                     int32_t b)
{
    return nw_topology_distance(slots->problem->topology,
                                slots->end[slots->first[a]],
                                slots->end[slots->first[b]]);
}

/* Returns the smallest distance between any two hosts. */
static double switch_groups_least_distance(const struct nw_slots *slots)
{
    int32_t hosts = slots->problem->host_count;
    double least = INFINITY;

    for (int32_t a = 0; a < hosts; a++)
        for (int32_t b = 0; b < a; b++)
            least = fmin(least, switch_groups_distance(slots, a, b));
    return least;
}

/* Fills first[]: first[p] becomes the number of core slots in the groups before
 * p. */
static void switch_groups_count_slots(const struct nw_slots *slots,
                                      struct nw_switch_groups *groups)
{
    memset(groups->first, 0, sizeof groups->first);
    for (int32_t h = 0; h < slots->problem->host_count; h++)
        groups->first[groups->group[h] + 1] +=
            slots->first[h + 1] - slots->first[h];
    for (int32_t p = 0; p < groups->parts; p++)
        groups->first[p + 1] += groups->first[p];
}

/* Fills first[] of the groups. Returns false if there are fewer than two
 * groups, too many, or a group without slots. */
static bool switch_groups_finish(const struct nw_slots *slots,
                                 struct nw_switch_groups *groups)
{
    if (groups->parts < 2 || groups->parts > NW_SWITCH_GROUPS_MAX)
        return false;
    switch_groups_count_slots(slots, groups);
    for (int32_t p = 0; p < groups->parts; p++)
        if (groups->first[p] == groups->first[p + 1])
            return false;
    return true;
}

bool nw_switch_groups_nearest(const struct nw_slots *slots,
                              struct nw_switch_groups *groups)
{
    int32_t hosts = slots->problem->host_count, *group = groups->group;
    double reach = switch_groups_least_distance(slots);

    groups->parts = 0;
    for (int32_t h = 0; h < hosts; h++) {
        int32_t k = 0;

        while (k < h && switch_groups_distance(slots, h, k) > reach)
            k++;
        group[h] = k < h ? group[k] : groups->parts++;
        for (k = 0; k < h; k++)
            if ((switch_groups_distance(slots, h, k) <= reach) !=
                (group[h] == group[k]))
                return false;
    }
    return switch_groups_finish(slots, groups);
}

bool nw_switch_groups_dragonfly(const struct nw_slots *slots,
                                struct nw_switch_groups *groups)
{
    const nw_topology *topology = slots->problem->topology;
    const struct nw_network *network = topology->network;
    const struct nw_dragonfly *shape;

    if (!network || strcmp(network->ops->name, "dragonfly") != 0)
        return false;
    shape = network->ops->shape(network);
    groups->parts = shape->groups;
    if (groups->parts > NW_SWITCH_GROUPS_MAX)
        return false;
    for (int32_t h = 0; h < slots->problem->host_count; h++) {
        int32_t card = nw_end_card(topology, slots->end[slots->first[h]]);

        groups->group[h] =
            nw_topology_switch_of(topology, slots->problem->host[h], card) /
            shape->routers;
    }
    return switch_groups_finish(slots, groups);
}

void nw_switch_groups_measure(const struct nw_slots *slots,
                              const struct nw_switch_groups *groups,
                              double *far)
{
    int32_t hosts = slots->problem->host_count;

    for (int32_t a = 0; a < hosts; a++)
        for (int32_t b = 0; b < hosts; b++)
            if (groups->group[a] != groups->group[b])
                far[groups->group[a] * groups->parts + groups->group[b]] =
                    switch_groups_distance(slots, a, b);
}

void nw_switch_groups_assign(struct nw_slots *slots,
                             const struct nw_switch_groups *groups,
                             const int32_t *part)
{
    int32_t slot[NW_SWITCH_GROUPS_MAX] = {0};

    for (int32_t r = 0; r < slots->rank_count; r++) {
        int32_t *s = &slot[part[r]];

        while (groups->group[slots->host[*s]] != part[r])
            ++*s;
        slots->slot[r] = (*s)++;
    }
    nw_slots_assign(slots, slots->slot);
}

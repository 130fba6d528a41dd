/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups hosts by distance: hosts at the smallest distance form a group, if
 * this relation is transitive. In a dragonfly with one host at each router it
 * is not, because the routers at both ends of a global link are as near as
 * routers of one group. For dragonflies, the topology's own groups can be used
 * instead. */
#include "map/groups/switch_groups.h"
#include "base/array.h"
#include "map/congestion/link_loads.h"
#include "topology/network/networks.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the host that stands for a host: the host itself or, if it has no
 * core slots, the next one that has or else the last one that has. */
static int32_t switch_groups_stand_in(const struct nw_slots *slots,
                                      int32_t host)
{
    int32_t slot = slots->first[host];

    return slots->host[slot < slots->core_count ? slot : slot - 1];
}

/* Returns the distance between the hosts that stand for two hosts, measured
 * from their first cores; -INFINITY if the same host stands for both. */
static double switch_groups_distance(const struct nw_slots *slots, int32_t a,
                                     int32_t b)
{
    int32_t from = switch_groups_stand_in(slots, a);
    int32_t to = switch_groups_stand_in(slots, b);

    return from == to ? -INFINITY
                      : nw_topology_distance(slots->problem->topology,
                                             slots->end[slots->first[from]],
                                             slots->end[slots->first[to]]);
}

double nw_switch_groups_next_distance(const double *far, int32_t n,
                                      double beyond)
{
    double next = INFINITY;

    for (int32_t p = 0; p < n; p++)
        for (int32_t q = 0; q < p; q++)
            if (far[p * n + q] > beyond)
                next = fmin(next, far[p * n + q]);
    return next;
}

int32_t nw_switch_groups_join(const double *far, int32_t n, double reach,
                              int32_t *group)
{
    int32_t parts = 0;

    for (int32_t p = 0; p < n; p++) {
        int32_t k = 0;

        while (k < p && far[p * n + k] > reach)
            k++;
        group[p] = k < p ? group[k] : parts++;
        for (k = 0; k < p; k++)
            if ((far[p * n + k] <= reach) != (group[p] == group[k]))
                return 0;
    }
    return parts;
}

/* Fills first[] of the groups: first[p] becomes the number of core slots in the
 * groups before p. Returns false if there are fewer than two groups, too many,
 * or a group without slots. */
static bool switch_groups_finish(const struct nw_slots *slots,
                                 struct nw_switch_groups *groups)
{
    if (groups->parts < 2 || groups->parts > NW_SWITCH_GROUPS_MAX)
        return false;
    memset(groups->first, 0, sizeof groups->first);
    for (int32_t h = 0; h < slots->problem->host_count; h++)
        groups->first[groups->group[h] + 1] +=
            slots->first[h + 1] - slots->first[h];
    for (int32_t p = 0; p < groups->parts; p++) {
        if (!groups->first[p + 1])
            return false;
        groups->first[p + 1] += groups->first[p];
    }
    return true;
}

nw_status nw_switch_groups_nearest(const struct nw_slots *slots,
                                   struct nw_switch_groups *groups, bool *found)
{
    int32_t hosts = slots->problem->host_count;
    double *far = NULL;
    nw_status status =
        nw_alloc((size_t)hosts * (size_t)hosts, sizeof *far, &far);

    if (status)
        return status;
    for (int32_t a = 0; a < hosts; a++)
        for (int32_t b = 0; b < a; b++)
            far[a * hosts + b] = switch_groups_distance(slots, a, b);
    groups->parts = nw_switch_groups_join(
        far, hosts, nw_switch_groups_next_distance(far, hosts, -INFINITY),
        groups->group);
    free(far);
    *found = switch_groups_finish(slots, groups);
    return NW_OK;
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
        int32_t host = switch_groups_stand_in(slots, h);
        int32_t card = nw_end_card(topology, slots->end[slots->first[host]]);

        groups->group[h] =
            nw_topology_switch_of(topology, slots->problem->host[host], card) /
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

/* Values of owner[link] for links without a kind of traffic of their own.
 * SEVERAL_KINDS: traffic of several kinds, or of kind -1, uses the link.
 * NO_TRAFFIC: no route uses the link. */
enum { SEVERAL_KINDS = -1, NO_TRAFFIC = -2 };

/* Follows the routes between the first core slots of all hosts. Sets
 * owner[link] to the kind of traffic that alone uses the directed link;
 * otherwise to SEVERAL_KINDS. */
static void switch_groups_visit_routes(const struct nw_slots *slots,
                                       const struct nw_switch_groups *groups,
                                       const int32_t *kind,
                                       struct nw_route_cache *routes,
                                       int32_t *owner)
{
    int32_t hosts = slots->problem->host_count;
    const int32_t *group = groups->group, *route_class = routes->route_class,
                  *first = slots->first;

    for (int32_t a = 0; a < hosts; a++)
        for (int32_t b = 0; b < hosts; b++) {
            int32_t mine = kind[group[a] * groups->parts + group[b]];
            struct nw_route route;

            if (a == b || first[a] == first[a + 1] || first[b] == first[b + 1])
                continue;
            route = nw_route_cache_find(routes, route_class[first[a]],
                                        route_class[first[b]]);
            for (uint32_t i = 0; i < route.count; i++) {
                int32_t *of = &owner[route.hop[i]];

                *of = *of == NO_TRAFFIC || *of == mine ? mine : SEVERAL_KINDS;
            }
        }
}

nw_status nw_switch_groups_sum_bandwidth(const struct nw_slots *slots,
                                         const struct nw_switch_groups *groups,
                                         const int32_t *kind, double *fast)
{
    struct nw_link_loads loads;
    int32_t *owner = NULL;
    nw_status status = nw_link_loads_init(
        &loads, slots, (struct nw_link_loads_wants){.links = true});

    if (!status)
        status = nw_alloc(loads.link_count, sizeof *owner, &owner);
    if (!status && loads.has_links) {
        for (uint32_t l = 0; l < loads.link_count; l++)
            owner[l] = NO_TRAFFIC;
        switch_groups_visit_routes(slots, groups, kind, &loads.routes, owner);
        for (uint32_t l = 0; l < loads.link_count; l++)
            if (owner[l] >= 0)
                fast[owner[l]] += 1 / loads.link[l].slow;
    }
    free(owner);
    nw_link_loads_fini(&loads);
    return status;
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

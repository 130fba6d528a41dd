/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds which leaf switches are below the same higher switch, by distance and
 * level by level, as switch_groups.c finds the hosts below a leaf switch. The
 * uplinks of a switch are the links that are used only by traffic leaving this
 * switch. */
#include "map/groups/switch_levels.h"
#include "map/congestion/link_loads.h"
#include "base/array.h"

#include <math.h>
#include <stdlib.h>

/* --- which groups are below one switch --- */

/* Returns the smallest distance between two of the n groups of hosts that is
 * larger than `beyond`, or infinity. far[n x n]: distances between the groups.
 */
static double switch_levels_next_distance(const double *far, int32_t n,
                                          double beyond)
{
    double next = INFINITY;

    for (int32_t p = 0; p < n; p++)
        for (int32_t q = 0; q < p; q++)
            if (far[p * n + q] > beyond)
                next = fmin(next, far[p * n + q]);
    return next;
}

/* Makes a level in which two groups of hosts are below the same switch if their
 * distance is at most `reach`. Returns false if this relation is not transitive
 * or puts all groups below one switch. far[n x n]: distances between the
 * groups. */
static bool switch_levels_group(const double *far, int32_t n, double reach,
                                struct nw_switch_level *level)
{
    level->parts = 0;
    for (int32_t p = 0; p < n; p++) {
        int32_t k = 0;

        while (k < p && far[p * n + k] > reach)
            k++;
        level->of[p] = k < p ? level->of[k] : level->parts++;
        for (k = 0; k < p; k++)
            if ((far[p * n + k] <= reach) != (level->of[p] == level->of[k]))
                return false;
    }
    return level->parts > 1;
}

/* Adds a level of switches for each different distance between groups of hosts,
 * in ascending order. Stops at the first distance that gives no level, or at
 * NW_SWITCH_LEVELS_MAX levels. */
static void switch_levels_find_groups(const double *far, int32_t n,
                                      struct nw_switch_levels *levels)
{
    double reach = switch_levels_next_distance(far, n, 0);

    while (levels->count < NW_SWITCH_LEVELS_MAX && isfinite(reach) &&
           switch_levels_group(far, n, reach, &levels->level[levels->count])) {
        levels->count++;
        reach = switch_levels_next_distance(far, n, reach);
    }
}

/* --- uplinks of the switches --- */

/* Values of owner[link] for links that are not uplinks. NO_GROUP: no route uses
 * the link. SEVERAL_GROUPS: routes that leave different switches use the link,
 * or a route between two hosts below one switch does. */
enum { NO_GROUP = -1, SEVERAL_GROUPS = -2 };

/* Follows the routes between the first core slots of all hosts. Sets
 * owner[link] to the switch of this level if only traffic that leaves this
 * switch uses the directed link; otherwise to NO_GROUP or SEVERAL_GROUPS. */
static void switch_levels_visit_routes(const struct nw_slots *slots,
                                       const struct nw_switch_groups *groups,
                                       const struct nw_switch_level *level,
                                       struct nw_route_cache *routes,
                                       int32_t *owner)
{
    int32_t hosts = slots->problem->host_count;
    const int32_t *group = groups->group, *route_class = routes->route_class,
                  *first = slots->first;

    for (int32_t a = 0; a < hosts; a++)
        for (int32_t b = 0; b < hosts; b++) {
            struct nw_route route = nw_route_cache_find(
                routes, route_class[first[a]], route_class[first[b]]);
            int32_t from = level->of[group[a]];
            bool leaves = from != level->of[group[b]];

            for (uint32_t i = 0; a != b && i < route.count; i++) {
                int32_t *mine = &owner[route.hop[i]];

                *mine = leaves && (*mine == NO_GROUP || *mine == from)
                            ? from
                            : SEVERAL_GROUPS;
            }
        }
}

/* Returns the time in seconds per byte that leaves a switch, as the mean over
 * the switches of a level; 0 without uplinks. If there are two switches, all
 * traffic that leaves one of them enters the other, so the downlinks of the
 * other one are counted as well, and the bandwidth is halved. */
static double switch_levels_measure(const struct nw_slots *slots,
                                    const struct nw_switch_groups *groups,
                                    const struct nw_switch_level *level,
                                    struct nw_link_loads *loads, int32_t *owner)
{
    double fast = 0;

    for (uint32_t l = 0; l < loads->link_count; l++)
        owner[l] = NO_GROUP;
    switch_levels_visit_routes(slots, groups, level, &loads->routes, owner);
    for (uint32_t l = 0; l < loads->link_count; l++)
        if (owner[l] >= 0 && loads->link[l].slow > 0)
            fast += 1 / loads->link[l].slow;
    if (level->parts == 2)
        fast /= 2;
    return fast > 0 ? level->parts / fast : 0;
}

/* Sets the weight of each level relative to level 0. Removes the first level
 * without uplinks and all levels above it, except level 0, which stays with
 * weight 1. */
static nw_status switch_levels_weigh(const struct nw_slots *slots,
                                     const struct nw_switch_groups *groups,
                                     struct nw_switch_levels *levels)
{
    struct nw_link_loads loads;
    int32_t *owner = NULL;
    int known = 0;
    nw_status status = nw_link_loads_init(
        &loads, slots, (struct nw_link_loads_wants){.links = true});

    if (!status)
        status = nw_alloc(loads.link_count, sizeof *owner, &owner);
    for (int s = 0; !status && loads.has_links && s < levels->count; s++) {
        struct nw_switch_level *level = &levels->level[s];

        level->weight =
            switch_levels_measure(slots, groups, level, &loads, owner);
        if (known == s && level->weight > 0)
            known++;
    }
    for (int s = known; s-- > 0;)
        levels->level[s].weight /= levels->level[0].weight;
    if (!known)
        nw_switch_levels_lowest(groups, levels);
    else
        levels->count = known;
    free(owner);
    nw_link_loads_fini(&loads);
    return status;
}

void nw_switch_levels_lowest(const struct nw_switch_groups *groups,
                             struct nw_switch_levels *levels)
{
    struct nw_switch_level *lowest = levels->level;

    levels->count = 1;
    lowest->parts = groups->parts;
    lowest->weight = 1;
    for (int32_t p = 0; p < groups->parts; p++)
        lowest->of[p] = p;
}

nw_status nw_switch_levels_find(const struct nw_slots *slots,
                                const struct nw_switch_groups *groups,
                                struct nw_switch_levels *levels)
{
    size_t cells = (size_t)groups->parts * (size_t)groups->parts;
    double *far = NULL;
    nw_status status = nw_alloc(cells, sizeof *far, &far);

    nw_switch_levels_lowest(groups, levels);
    if (!status) {
        nw_switch_groups_measure(slots, groups, far);
        switch_levels_find_groups(far, groups->parts, levels);
    }
    free(far);
    if (!status && levels->count > 1)
        status = switch_levels_weigh(slots, groups, levels);
    return status;
}

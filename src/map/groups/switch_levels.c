/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds which leaf switches are below the same higher switch, by distance and
 * level by level, as switch_groups.c finds the hosts below a leaf switch. The
 * uplinks of a switch are the links in one direction that only the traffic from
 * hosts below it to other hosts uses. */
#include "map/groups/switch_levels.h"
#include "base/array.h"

#include <math.h>
#include <stdlib.h>

/* Adds a level of switches for each different distance between groups of hosts,
 * in ascending order. Stops at the first distance that gives no level, or at
 * NW_SWITCH_LEVELS_MAX levels. */
static void switch_levels_find_groups(const double *far, int32_t n,
                                      struct nw_switch_levels *levels)
{
    double reach = nw_switch_groups_next_distance(far, n, 0);

    while (levels->count < NW_SWITCH_LEVELS_MAX && isfinite(reach)) {
        struct nw_switch_level *level = &levels->level[levels->count];

        level->parts = nw_switch_groups_join(far, n, reach, level->of);
        if (level->parts < 2)
            return;
        levels->count++;
        reach = nw_switch_groups_next_distance(far, n, reach);
    }
}

/* Sets the weight of a level to the time in seconds per byte that leaves a
 * switch, as the mean over its switches; to 0 without uplinks. If there are two
 * switches, all traffic that leaves one of them enters the other, so the
 * downlinks of the other one are counted as well, and the bandwidth is halved.
 */
static nw_status switch_levels_measure(const struct nw_slots *slots,
                                       const struct nw_switch_groups *groups,
                                       struct nw_switch_level *level)
{
    int32_t kind[NW_SWITCH_GROUPS_MAX * NW_SWITCH_GROUPS_MAX];
    int32_t n = groups->parts;
    double fast[NW_SWITCH_GROUPS_MAX] = {0}, sum = 0;
    nw_status status;

    for (int32_t p = 0; p < n; p++)
        for (int32_t q = 0; q < n; q++)
            kind[p * n + q] = level->of[p] == level->of[q] ? -1 : level->of[p];
    status = nw_switch_groups_sum_bandwidth(slots, groups, kind, fast);
    for (int32_t p = 0; p < level->parts; p++)
        sum += fast[p];
    if (level->parts == 2)
        sum /= 2;
    level->weight = sum > 0 ? level->parts / sum : 0;
    return status;
}

/* Sets the weight of each level relative to level 0. Removes the first level
 * without uplinks and all levels above it, except level 0, which stays with
 * weight 1. */
static nw_status switch_levels_weigh(const struct nw_slots *slots,
                                     const struct nw_switch_groups *groups,
                                     struct nw_switch_levels *levels)
{
    int known = 0;

    for (; known < levels->count; known++) {
        nw_status status =
            switch_levels_measure(slots, groups, &levels->level[known]);

        if (status)
            return status;
        if (levels->level[known].weight <= 0)
            break;
    }
    for (int s = known; s-- > 0;)
        levels->level[s].weight /= levels->level[0].weight;
    if (!known)
        nw_switch_levels_lowest(groups, levels);
    else
        levels->count = known;
    return NW_OK;
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

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides the ranks over the groups of a dragonfly. Each of the best few
 * divisions is assigned to slots, and its ranks are annealed within their
 * groups, first by hop-bytes, then by the objectives; in between, whole nodes
 * are swapped. The best assignment is kept.
 */
#include "map/groups/dragonfly.h"
#include "map/common/budget.h"
#include "map/congestion/node_swaps.h"
#include "map/congestion/digit_embedding.h"
#include "map/groups/dragonfly_internal.h"
#include "map/common/parameters.h"
#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the links of each pair --- */

/* Values of owner[link] for links that do not belong to one pair of groups.
 * NO_PAIR: no route uses the link. SEVERAL_PAIRS: routes of several pairs, or
 * routes within a group, use the link. */
enum { NO_PAIR = -1, SEVERAL_PAIRS = -2 };

/* Follows the routes between the first core slots of all hosts. Sets
 * owner[link] to the ordered pair of groups (nw_dragonfly_pair) if only traffic
 * between these groups uses the directed link; otherwise to NO_PAIR or
 * SEVERAL_PAIRS. */
static void dragonfly_visit_routes(struct nw_dragonfly_search *work,
                                   struct nw_route_cache *routes, int *owner)
{
    const struct nw_slots *slots = work->of.slots;
    const int32_t *group = work->of.groups.group, *first = slots->first;
    int32_t hosts = slots->problem->host_count;

    for (int32_t a = 0; a < hosts; a++)
        for (int32_t b = 0; b < hosts; b++) {
            int pair = group[a] == group[b]
                           ? SEVERAL_PAIRS
                           : nw_dragonfly_pair(work, group[a], group[b]);
            struct nw_route route =
                nw_route_cache_find(routes, routes->route_class[first[a]],
                                    routes->route_class[first[b]]);

            for (uint32_t i = 0; a != b && i < route.count; i++) {
                int *mine = &owner[route.hop[i]];

                *mine =
                    *mine == NO_PAIR || *mine == pair ? pair : SEVERAL_PAIRS;
            }
        }
}

/* Sets work->slow[] for each pair of groups to the inverse of the summed
 * bandwidth of its own links. Returns false if a pair has no link of its own.
 */
static bool dragonfly_sum_links(struct nw_dragonfly_search *work,
                                const struct nw_link_loads *loads,
                                const int *owner)
{
    double fast[NW_DIVISION_LOADS_MAX] = {0};

    for (uint32_t l = 0; l < loads->link_count; l++)
        if (owner[l] >= 0 && loads->link[l].slow > 0)
            fast[owner[l]] += 1 / loads->link[l].slow;
    for (int32_t p = 0; p < work->of.groups.parts; p++)
        for (int32_t q = 0; q < work->of.groups.parts; q++) {
            int pair = nw_dragonfly_pair(work, p, q);

            if (p != q && fast[pair] <= 0)
                return false;
            work->slow[pair] = p == q ? 0 : 1 / fast[pair];
        }
    return true;
}

/* Finds the links that only the traffic of one ordered pair of groups uses, and
 * sets work->slow[] to the time in s that all those of a pair together need for
 * a byte. Sets *found to true if every pair has such a link. Otherwise sets it
 * to false, and work->slow[] may be incomplete. */
static nw_status dragonfly_find_links(struct nw_dragonfly_search *work,
                                      bool *found)
{
    struct nw_link_loads loads;
    int *owner = NULL;
    nw_status status = nw_link_loads_init(
        &loads, work->of.slots, (struct nw_link_loads_wants){.links = true});

    *found = false;
    if (!status)
        status = nw_alloc(loads.link_count, sizeof *owner, &owner);
    if (!status && loads.has_links) {
        memset(owner, NO_PAIR, loads.link_count * sizeof *owner);
        dragonfly_visit_routes(work, &loads.routes, owner);
        *found = dragonfly_sum_links(work, &loads, owner);
    }
    free(owner);
    nw_link_loads_fini(&loads);
    return status;
}

/* --- from divisions to assignments of slots --- */

/* Sets *out to the largest congestion of the present assignment in seconds,
 * increased by a penalty if hop-bytes exceed their cap. */
static nw_status dragonfly_judge(const struct nw_dragonfly_search *work,
                                 double *out)
{
    double limit = work->objectives->hop_limit;
    struct nw_link_loads loads;
    nw_status status = nw_link_loads_init(
        &loads, work->of.slots, nw_objectives_wants(work->objectives));

    if (!status)
        *out = nw_link_loads_max(&loads);
    if (!status && limit > 0)
        *out *= 1 + nw_tuned.dragonfly.beyond *
                        fmax(0, loads.now.hop_bytes / limit - 1);
    nw_link_loads_fini(&loads);
    return status;
}

/* Assigns the ranks to slots of the groups that the division gives them, and
 * anneals ranks and whole nodes within these groups. Sets *value to the rating
 * by dragonfly_judge. */
static nw_status
dragonfly_anneal_within(struct nw_dragonfly_search *work,
                        const struct nw_best_division *division, double *value)
{
    struct nw_objectives near = {.first = NW_OBJECTIVE_HOP_BYTES,
                                 .second = NW_OBJECTIVE_CONGESTION};
    struct nw_slots *slots = work->of.slots;
    nw_status status;

    nw_switch_groups_assign(slots, &work->of.groups, division->part);
    slots->group = work->of.groups.group;
    status = nw_slots_anneal(slots, &near, NW_SEARCH_BRIEF);
    if (!status)
        status = nw_node_swaps(slots, work->objectives, NW_SEARCH_BRIEF);
    if (!status)
        status = nw_slots_anneal(slots, work->objectives, NW_SEARCH_FULL);
    slots->group = NULL;
    return status ? status : dragonfly_judge(work, value);
}

/* Assigns and anneals each of the kept divisions whose most loaded pair of
 * groups needs less than `below` seconds. Leaves the best resulting assignment
 * in the slots. */
static nw_status dragonfly_anneal_within_all(struct nw_dragonfly_search *work,
                                             double below)
{
    struct nw_slots *slots = work->of.slots;
    size_t size = (size_t)slots->rank_count * sizeof *slots->slot;
    double least = INFINITY;
    nw_status status = NW_OK;

    for (int i = 0;
         !status && i < NW_DRAGONFLY_PAIRS_KEPT && work->best[i].least < below;
         i++) {
        double value = INFINITY;

        status = dragonfly_anneal_within(work, &work->best[i], &value);
        if (status || value >= least)
            continue;
        least = value;
        memcpy(work->of.part, slots->slot, size);
    }
    if (!status) {
        memcpy(slots->slot, work->of.part, size);
        nw_slots_assign(slots, slots->slot);
    }
    return status;
}

/* --- the search as a whole --- */

static nw_status dragonfly_alloc(struct nw_dragonfly_search *work,
                                 struct nw_slots *slots)
{
    size_t n = (size_t)slots->rank_count;
    nw_status status = nw_division_init(&work->of, slots);

    for (int i = 0; !status && i < NW_DRAGONFLY_PAIRS_KEPT; i++) {
        work->best[i].least = INFINITY;
        status = nw_alloc(n, sizeof *work->best[i].part, &work->best[i].part);
    }
    return status;
}

static void dragonfly_release(struct nw_dragonfly_search *work)
{
    nw_division_fini(&work->of);
    for (int i = 0; i < NW_DRAGONFLY_PAIRS_KEPT; i++)
        free(work->best[i].part);
    free(work);
}

/* Searches divisions and assigns the ranks by the best ones, but only if the
 * pattern is a grid. For other patterns, divisions by the bytes that leave each
 * router (min_max_cut.c) give better results. `below` and *out are as in
 * nw_slots_divide_dragonfly. */
static nw_status dragonfly_search(struct nw_dragonfly_search *work,
                                  double below, enum nw_dragonfly_result *out)
{
    struct nw_stencil stencil;
    bool grid = false;
    bool grouped = nw_switch_groups_nearest(work->of.slots, &work->of.groups) &&
                   nw_switch_groups_dragonfly(work->of.slots, &work->of.groups);
    nw_status status = nw_slots_find_grid(work->of.slots, &stencil, &grid);

    if (!status && grid && grouped)
        status = dragonfly_find_links(work, &grouped);
    if (status || !grid || !grouped)
        return status;
    *out = NW_DRAGONFLY_NO_GAIN;
    if (!nw_dragonfly_anneal(work, below))
        return NW_OK;
    *out = NW_DRAGONFLY_DIVIDED;
    return dragonfly_anneal_within_all(work, below);
}

nw_status nw_slots_divide_dragonfly(struct nw_slots *slots,
                                    const struct nw_objectives *objectives,
                                    double below, enum nw_dragonfly_result *out)
{
    struct nw_dragonfly_search *work = NULL;
    nw_status status;

    *out = NW_DRAGONFLY_NONE;
    if (!nw_division_applies(slots, objectives))
        return NW_OK;
    status = nw_alloc(1, sizeof *work, &work);
    if (status)
        return status;
    work->objectives = objectives;
    status = dragonfly_alloc(work, slots);
    if (!status)
        status = dragonfly_search(work, below, out);
    dragonfly_release(work);
    return status;
}

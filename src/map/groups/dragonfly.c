/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Anneals divisions of the ranks over the groups of a dragonfly. The load of an
 * ordered pair of groups is the time in seconds that the links used only by
 * this pair need for the bytes from the first group to the second. For each of
 * the best few divisions, the ranks are assigned to slots of their groups. Then
 * annealing moves ranks within their groups to lower hop-bytes. After that,
 * whole nodes are swapped within their groups, and ranks are moved by a second
 * annealing, both to lower the caller's objectives. The best assignment is
 * kept.
 */
#include "map/groups/dragonfly.h"
#include "map/congestion/node_swaps.h"
#include "map/congestion/digit_embedding.h"
#include "map/groups/division.h"
#include "map/common/parameters.h"
#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIVISIONS_KEPT 3

/* State of one call of nw_slots_divide_dragonfly. */
struct dragonfly_work {
    /* its loads are the times in s that the links used only by each ordered
     * pair of groups (dragonfly_pair) need for the pair's traffic */
    struct nw_division of;
    const struct nw_objectives *objectives;
    /* time in s that all links used only by each ordered pair of groups
     * together need for a byte */
    double slow[NW_DIVISION_LOADS_MAX];
    /* the best different divisions, from best to worst */
    struct nw_best_division best[DIVISIONS_KEPT];
};

static int dragonfly_pair(const struct dragonfly_work *work, int32_t from,
                          int32_t to)
{
    return from * work->of.groups.parts + to;
}

/* --- the links of each pair --- */

/* Finds the links that only the traffic of one ordered pair of groups uses, and
 * sets work->slow[] to the time in s that all those of a pair together need for
 * a byte. Sets *found to false if a pair has no such link; work->slow[] is then
 * incomplete. */
static nw_status dragonfly_find_links(struct dragonfly_work *work, bool *found)
{
    int32_t kind[NW_DIVISION_LOADS_MAX], parts = work->of.groups.parts;
    double fast[NW_DIVISION_LOADS_MAX] = {0};
    nw_status status;

    for (int32_t pair = 0; pair < parts * parts; pair++)
        kind[pair] = pair / parts == pair % parts ? -1 : pair;
    status = nw_switch_groups_sum_bandwidth(work->of.slots, &work->of.groups,
                                            kind, fast);
    *found = !status;
    for (int32_t pair = 0; pair < parts * parts && *found; pair++)
        if (kind[pair] >= 0) {
            *found = fast[pair] > 0;
            work->slow[pair] = 1 / fast[pair];
        }
    return status;
}

/* --- annealing of divisions --- */

/* Function nw_division_annealing.count: adds up the loads of all pairs of
 * groups. */
static void dragonfly_anneal_count_loads(void *user)
{
    struct dragonfly_work *work = user;
    const struct nw_slots *slots = work->of.slots;

    for (int32_t r = 0; r < slots->rank_count; r++)
        for (size_t t = slots->row[r]; t < slots->row[r + 1]; t++) {
            int pair = dragonfly_pair(work, work->of.part[r],
                                      work->of.part[slots->edge[t].peer]);

            work->of.load[pair] += slots->edge[t].out * work->slow[pair];
        }
}

/* Adds `bytes` from one group to another to the change of the pair's load by
 * the swap on trial. */
static void dragonfly_anneal_add(struct dragonfly_work *work, int32_t from,
                                 int32_t to, double bytes)
{
    int pair = dragonfly_pair(work, from, to);

    if (from != to)
        nw_division_add(&work->of, pair, bytes * work->slow[pair]);
}

/* Adds the changes of the loads by the edges of `rank` if it is swapped with
 * `other`. The edge between the two ranks is counted only if rank < other,
 * because this function is called for both. */
static void dragonfly_anneal_add_change(struct dragonfly_work *work,
                                        int32_t rank, int32_t other)
{
    const struct nw_directed_edge *edge = NULL;
    size_t edges = nw_division_edges(&work->of, rank, &edge);
    int32_t from = work->of.part[rank], to = work->of.part[other];

    for (; edges--; edge++) {
        int32_t before = work->of.part[edge->peer], after = before;

        if (edge->peer == rank || (edge->peer == other && rank > other))
            continue;
        if (edge->peer == other)
            after = from;
        dragonfly_anneal_add(work, from, before, -edge->out);
        dragonfly_anneal_add(work, before, from, -edge->in);
        dragonfly_anneal_add(work, to, after, edge->out);
        dragonfly_anneal_add(work, after, to, edge->in);
    }
}

/* Function nw_division_annealing.change: adds the changes of the loads if
 * members a and b are swapped. */
static void dragonfly_anneal_change(void *user, int32_t a, int32_t b)
{
    dragonfly_anneal_add_change(user, a, b);
    dragonfly_anneal_add_change(user, b, a);
}

/* Inserts the best division of a round into work->best[], which is sorted from
 * best to worst, unless an equal one is there: one that is not empty, and
 * neither of the two is better. */
static void dragonfly_anneal_list_round(struct dragonfly_work *work)
{
    for (int i = 0; i < DIVISIONS_KEPT; i++)
        if (!isinf(work->best[i].least) &&
            !nw_best_division_is_less(&work->of.best, &work->best[i]) &&
            !nw_best_division_is_less(&work->best[i], &work->of.best))
            return;
    for (int i = 0; i < DIVISIONS_KEPT; i++)
        if (nw_best_division_is_less(&work->of.best, &work->best[i])) {
            struct nw_best_division worse = work->best[i];

            work->best[i] = work->of.best;
            work->of.best = worse;
        }
}

/* Searches divisions of the ranks over the groups and fills best[]. Ends after
 * a fixed number of rounds or with the budget, whose last, unfinished round
 * does not count. Returns false if the most loaded pair of groups needs at
 * least `below` seconds in every division. */
static bool dragonfly_search_divisions(struct dragonfly_work *work,
                                       double below)
{
    const struct nw_slots *slots = work->of.slots;
    int32_t ranks = slots->rank_count, parts = work->of.groups.parts;
    uint64_t draws = (uint64_t)ranks * nw_tuned.dragonfly.draws_each;
    size_t edges = slots->row[ranks];
    double bytes = 0;
    struct nw_division_annealing annealing = {
        .mean = nw_tuned.dragonfly.mean,
        .loads = parts * (parts - 1),
        .draws = draws < nw_tuned.congestion.trials_max
                     ? draws
                     : nw_tuned.congestion.trials_max,
        .user = work,
        .count = dragonfly_anneal_count_loads,
        .change = dragonfly_anneal_change};

    /* the seconds that an edge of mean bytes needs on the links of the first
     * pair of groups */
    for (size_t t = 0; t < edges; t++)
        bytes += slots->edge[t].out;
    annealing.temperature = edges ? bytes / (double)edges * work->slow[1] : 0;
    for (int i = 0; i < nw_tuned.dragonfly.rounds; i++) {
        work->of.best.parts = parts * parts;
        work->of.best.least = INFINITY;
        if (!nw_division_anneal(&work->of, &annealing))
            break;
        dragonfly_anneal_list_round(work);
    }
    return work->best[0].least < below * (1 - 1e-9);
}

/* --- from divisions to assignments of slots --- */

/* Sets *out to the largest congestion of the present assignment in seconds,
 * increased by a penalty if hop-bytes exceed their cap. */
static nw_status dragonfly_judge(const struct dragonfly_work *work, double *out)
{
    struct nw_link_loads loads;
    nw_status status = nw_link_loads_init(
        &loads, work->of.slots, nw_objectives_wants(work->objectives));

    if (!status)
        *out = nw_link_loads_max(&loads) *
               (1 + nw_tuned.dragonfly.beyond *
                        nw_objectives_excess(loads.now.hop_bytes,
                                             work->objectives->hop_limit));
    nw_link_loads_fini(&loads);
    return status;
}

/* Assigns the ranks to slots of the groups that the division gives them, and
 * anneals ranks and whole nodes within these groups. Sets *value to the rating
 * by dragonfly_judge. */
static nw_status
dragonfly_anneal_within(struct dragonfly_work *work,
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
static nw_status dragonfly_anneal_within_all(struct dragonfly_work *work,
                                             double below)
{
    struct nw_slots *slots = work->of.slots;
    size_t size = (size_t)slots->rank_count * sizeof *slots->slot;
    double least = INFINITY;
    nw_status status = NW_OK;

    for (int i = 0;
         !status && i < DIVISIONS_KEPT && work->best[i].least < below; i++) {
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

/* Searches divisions and assigns the ranks by the best ones, but only if the
 * pattern is a grid. For other patterns, divisions by the bytes that leave each
 * router (min_max_cut.c) give better results. `below` and *out are as in
 * nw_slots_divide_dragonfly. */
static nw_status dragonfly_search(struct dragonfly_work *work, double below,
                                  enum nw_dragonfly_result *out)
{
    struct nw_stencil stencil;
    bool grid = false, grouped = false;
    nw_status status =
        nw_switch_groups_nearest(work->of.slots, &work->of.groups, &grouped);

    grouped =
        grouped && nw_switch_groups_dragonfly(work->of.slots, &work->of.groups);
    if (!status)
        status = nw_slots_find_grid(work->of.slots, &stencil, &grid);
    if (!status && grid && grouped)
        status = dragonfly_find_links(work, &grouped);
    if (status || !grid || !grouped)
        return status;
    *out = NW_DRAGONFLY_NO_GAIN;
    if (!dragonfly_search_divisions(work, below))
        return NW_OK;
    *out = NW_DRAGONFLY_DIVIDED;
    return dragonfly_anneal_within_all(work, below);
}

nw_status nw_slots_divide_dragonfly(struct nw_slots *slots,
                                    const struct nw_objectives *objectives,
                                    double below, enum nw_dragonfly_result *out)
{
    struct dragonfly_work *work = NULL;
    nw_status status;

    *out = NW_DRAGONFLY_NONE;
    if (!nw_division_applies(slots, objectives))
        return NW_OK;
    status = nw_alloc(1, sizeof *work, &work);
    if (status)
        return status;
    work->objectives = objectives;
    status = nw_division_init(&work->of, slots);
    for (int i = 0; !status && i < DIVISIONS_KEPT; i++) {
        work->best[i].least = INFINITY;
        status = nw_alloc((size_t)slots->rank_count, sizeof(int32_t),
                          &work->best[i].part);
    }
    if (!status)
        status = dragonfly_search(work, below, out);
    nw_division_fini(&work->of);
    for (int i = 0; i < DIVISIONS_KEPT; i++)
        free(work->best[i].part);
    free(work);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Anneals divisions of the ranks over leaf switches by the bytes that each leaf
 * switch, and each higher switch, sends and receives. Then assigns the ranks by
 * the best division and anneals them within the hosts of their leaf switch.
 * Grids are first divided by a slicing tree, unless leaf switches differ in
 * size and no slot is free.
 */
#include "map/groups/min_max_cut.h"
#include "map/congestion/node_swaps.h"
#include "map/groups/slicing_tree.h"
#include "map/congestion/digit_embedding.h"
#include "map/groups/division.h"
#include "map/groups/switch_levels.h"
#include "map/common/parameters.h"

#include <math.h>

/* State of one call of nw_slots_min_max_cut. */
struct min_max_cut_work {
    /* its loads are the weighted bytes that each switch sends and receives; all
     * leaf switches come first, then those of the next level */
    struct nw_division of;
    struct nw_switch_levels levels;
};

/* Function nw_division_annealing.count: adds to the load of each switch the
 * bytes between the ranks below it and all others, in both directions, times
 * the weight of its level. */
static void min_max_cut_count_leaving(void *user)
{
    struct min_max_cut_work *work = user;
    const struct nw_slots *slots = work->of.slots;
    const int32_t *part = work->of.part;
    double *leaving = work->of.load;

    for (int s = 0; s < work->levels.count; s++) {
        const struct nw_switch_level *level = &work->levels.level[s];

        for (int32_t r = 0; r < slots->rank_count; r++)
            for (size_t t = slots->row[r]; t < slots->row[r + 1]; t++) {
                const struct nw_directed_edge *edge = &slots->edge[t];

                if (level->of[part[r]] != level->of[part[edge->peer]])
                    leaving[level->of[part[r]]] +=
                        level->weight * (edge->out + edge->in);
            }
        leaving += level->parts;
    }
}

/* --- one swap --- */

/* Computes how the edges of `rank` change the bytes of two switches of one
 * level if `rank` is swapped with `other`. Adds the change of the bytes that
 * the switch of `rank` sends and receives to change[0], that of the switch of
 * `other` to change[1]. */
static void min_max_cut_add_change(const struct min_max_cut_work *work,
                                   const struct nw_switch_level *level,
                                   int32_t rank, int32_t other,
                                   double change[2])
{
    const struct nw_directed_edge *edge = NULL;
    size_t edges = nw_division_edges(&work->of, rank, &edge);
    const int32_t *part = work->of.part;
    int32_t from = level->of[part[rank]], to = level->of[part[other]];

    for (; edges--; edge++) {
        double bytes = edge->out + edge->in;
        int32_t there = level->of[part[edge->peer]];

        if (edge->peer == other || edge->peer == rank)
            continue;
        change[0] += there == from ? bytes : -bytes;
        change[1] += there == to ? -bytes : bytes;
    }
}

/* Function nw_division_annealing.change: adds the changes of the loads of all
 * switches if members a and b of different parts are swapped. */
static void min_max_cut_change(void *user, int32_t a, int32_t b)
{
    struct min_max_cut_work *work = user;
    const int32_t *part = work->of.part;
    int32_t first = 0;

    for (int s = 0; s < work->levels.count; s++) {
        const struct nw_switch_level *level = &work->levels.level[s];
        int32_t from = level->of[part[a]], to = level->of[part[b]];
        double mine[2] = {0, 0}, theirs[2] = {0, 0};

        if (from == to)
            break; /* higher switches are then the same, too */
        min_max_cut_add_change(work, level, a, b, mine);
        min_max_cut_add_change(work, level, b, a, theirs);
        nw_division_add(&work->of, first + from,
                        level->weight * (mine[0] + theirs[1]));
        nw_division_add(&work->of, first + to,
                        level->weight * (mine[1] + theirs[0]));
        first += level->parts;
    }
}

/* --- the search --- */

/* Returns the initial temperature: the mean bytes of an edge, both directions
 * summed. */
static double min_max_cut_first_temperature(const struct nw_slots *slots)
{
    size_t edges = slots->row[slots->rank_count];
    double sum = 0;

    for (size_t t = 0; t < edges; t++)
        sum += slots->edge[t].out + slots->edge[t].in;
    return edges ? sum / (double)edges : 0;
}

/* Runs rounds of annealing, fewer for many ranks, because each round then takes
 * longer. If `sliced` is true, a slicing tree has already divided the grid into
 * parts of one size without free slots; annealing then ends after a few rounds
 * without improvement. */
static void min_max_cut_run_rounds(struct min_max_cut_work *work, bool sliced)
{
    double want =
        (double)work->of.slots->rank_count * nw_tuned.min_max_cut.draws_each;
    double part = fmin(1, nw_tuned.min_max_cut.draws_max / want);
    int rounds = (int)ceil(nw_tuned.min_max_cut.rounds * part * part), vain = 0;
    struct nw_division_annealing annealing = {
        .mean = nw_tuned.min_max_cut.mean,
        .loads = work->of.groups.parts,
        .boundary_tries = nw_tuned.congestion.congested_link_tries,
        .draws = (uint64_t)(part * want),
        .temperature = min_max_cut_first_temperature(work->of.slots),
        .user = work,
        .count = min_max_cut_count_leaving,
        .change = min_max_cut_change};

    for (; rounds > 0 && vain < (sliced ? nw_tuned.min_max_cut.vain_rounds
                                        : nw_tuned.min_max_cut.rounds);
         rounds--) {
        double before = work->of.best.least;

        if (!nw_division_anneal(&work->of, &annealing))
            return;
        vain = work->of.best.least < before * (1 - 1e-9) ? 0 : vain + 1;
    }
}

/* Finds the grid of the ranks (*grid: whether there is one) and the levels of
 * switches to consider: only the leaf switches for a grid, all levels for other
 * patterns. Takes the division by the present assignment as the best one so
 * far. */
static nw_status min_max_cut_begin_search(struct min_max_cut_work *work,
                                          bool *grid,
                                          struct nw_stencil *stencil)
{
    struct nw_division *of = &work->of;
    const struct nw_slots *slots = of->slots;
    nw_status status = nw_slots_find_grid(slots, stencil, grid);

    if (!status && *grid)
        nw_switch_levels_lowest(&of->groups, &work->levels);
    else if (!status)
        status = nw_switch_levels_find(slots, &of->groups, &work->levels);
    if (status)
        return status;
    for (int32_t r = 0; r < slots->rank_count; r++)
        of->part[r] = of->groups.group[slots->host[slots->slot[r]]];
    for (int s = 0; s < work->levels.count; s++)
        of->best.parts += work->levels.level[s].parts;
    min_max_cut_count_leaving(work);
    of->best.least = INFINITY;
    nw_best_division_keep(&of->best, of->part, of->load, slots->rank_count);
    return NW_OK;
}

/* Searches divisions. Sets *found to whether the busiest switch sends and
 * receives less than with the present assignment. Then sets *unlike to whether
 * distances between the groups of hosts differ. */
static nw_status min_max_cut_search(struct min_max_cut_work *work, bool *unlike,
                                    bool *found)
{
    const struct nw_slots *slots = work->of.slots;
    const struct nw_switch_groups *groups = &work->of.groups;
    struct nw_stencil stencil;
    bool grid = false, even;
    double before;
    nw_status status = min_max_cut_begin_search(work, &grid, &stencil);

    before = work->of.best.least;
    even = grid && nw_slicing_tree_is_even(slots, groups->first, groups->parts);
    if (!status && (even || (grid && slots->rank_count < slots->core_count)))
        status =
            nw_slicing_tree(slots, &stencil, groups->first, &work->of.best);
    if (!status)
        min_max_cut_run_rounds(work, even);
    *found = !status && work->of.best.least < before * (1 - 1e-9);
    *unlike = work->levels.count > 1;
    if (*found && !*unlike)
        status = nw_assign_groups(slots, groups, &work->of.random,
                                  work->of.best.part, unlike);
    return status;
}

/* --- back to slots --- */

/* Assigns the ranks by the best division and anneals them within the groups of
 * hosts by hop-bytes. Then swaps nodes by `objectives`; NULL: swaps no nodes.
 */
static nw_status
min_max_cut_anneal_within(struct min_max_cut_work *work,
                          const struct nw_objectives *objectives)
{
    struct nw_objectives near = {.first = NW_OBJECTIVE_HOP_BYTES,
                                 .second = NW_OBJECTIVE_CONGESTION};
    nw_status status;

    nw_switch_groups_assign(work->of.slots, &work->of.groups,
                            work->of.best.part);
    work->of.slots->group = work->of.groups.group;
    status = nw_slots_anneal(work->of.slots, &near, NW_SEARCH_FULL);
    if (!status && objectives)
        status = nw_node_swaps(work->of.slots, objectives, NW_SEARCH_BRIEF);
    work->of.slots->group = NULL;
    return status;
}

nw_status nw_slots_min_max_cut(struct nw_slots *slots,
                               const struct nw_objectives *objectives,
                               bool *found)
{
    struct min_max_cut_work work = {0};
    bool grouped = false, unlike = false;
    nw_status status;

    *found = false;
    if (!nw_division_applies(slots, objectives))
        return NW_OK;
    status = nw_division_init(&work.of, slots);
    if (!status)
        status = nw_switch_groups_nearest(slots, &work.of.groups, &grouped);
    if (!status && grouped)
        status = min_max_cut_search(&work, &unlike, found);
    if (!status && *found)
        status = min_max_cut_anneal_within(&work, unlike ? objectives : NULL);
    nw_division_fini(&work.of);
    return status;
}

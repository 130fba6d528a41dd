/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short rounds of annealing from random divisions: two ranks of different parts
 * are exchanged. The energy is a mean of eighth powers of the bytes that parts
 * send, and that higher switches send. The best division is then assigned, and
 * each part is annealed within its group.
 */
#include "map/groups/min_max_cut.h"
#include "map/congestion/node_swaps.h"
#include "map/groups/slicing_tree.h"
#include "map/congestion/digit_embedding.h"
#include "map/common/budget.h"
#include "map/groups/division.h"
#include "map/groups/switch_levels.h"
#include "map/common/parameters.h"
#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct min_max_cut_work {
    struct nw_division of;
    struct nw_switch_levels levels;
    double *leaving; /* [switches] bytes, both ways, as they weigh; those of
                        one switch level after the other */
    double scale, power, total, energy, temperature;
    struct nw_best_division best; /* parts: of all switch levels */
};

/* --- divisions --- */

static bool min_max_cut_is_full(const struct min_max_cut_work *work)
{
    return work->of.slots->rank_count == work->of.slots->core_count;
}

/* Parts take as many ranks each as the next. */
static bool min_max_cut_are_equal(const struct min_max_cut_work *work)
{
    for (int32_t p = 1; p < work->of.groups.parts; p++)
        if (work->of.groups.first[p + 1] - work->of.groups.first[p] !=
            work->of.groups.first[1])
            return false;
    return min_max_cut_is_full(work);
}

static void min_max_cut_count_leaving(struct min_max_cut_work *work)
{
    const struct nw_slots *slots = work->of.slots;
    const int32_t *part = work->of.part;
    double *leaving = work->leaving;

    memset(leaving, 0, (size_t)work->best.parts * sizeof *leaving);
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

static double min_max_cut_energy_of(const struct min_max_cut_work *work,
                                    double power, double total)
{
    return work->scale * sqrt(sqrt(sqrt(fmax(0, power)))) +
           nw_tuned.min_max_cut.mean * total / work->of.groups.parts;
}

static void min_max_cut_sum_up(struct min_max_cut_work *work)
{
    work->power = work->total = 0;
    for (int32_t p = 0; p < work->best.parts; p++) {
        work->power += nw_division_eighth(work->leaving[p] / work->scale);
        work->total += work->leaving[p];
    }
    work->energy = min_max_cut_energy_of(work, work->power, work->total);
}

static void min_max_cut_divide_at_random(struct min_max_cut_work *work)
{
    nw_division_shuffle(&work->of);
    min_max_cut_count_leaving(work);
    work->scale = 1;
    min_max_cut_sum_up(work);
    work->scale = fmax(work->total / work->of.groups.parts, 1e-300);
    min_max_cut_sum_up(work);
}

/* --- one exchange --- */

/* One of the part, at its border where that is soon found. */
static int32_t min_max_cut_draw_member(struct min_max_cut_work *work,
                                       int32_t part)
{
    int32_t rank = -1;

    for (int i = 0; i < nw_tuned.min_max_cut.boundary_tries; i++) {
        rank = nw_division_draw_member(&work->of, part);
        if (work->of.part[nw_division_draw_peer(&work->of, rank)] != part)
            break;
    }
    return rank;
}

/* The changes of the bytes that switches above two ranks send. */
struct min_max_cut_change {
    int count;
    int32_t at[2 * NW_SWITCH_LEVELS_MAX]; /* in leaving */
    double more[2 * NW_SWITCH_LEVELS_MAX];
};

/* The change of what both switches of a level send if a rank goes to the part
 * of `other` and `other` comes back. */
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

/* Two ranks of different parts change places. */
static void min_max_cut_find_change(const struct min_max_cut_work *work,
                                    int32_t a, int32_t b,
                                    struct min_max_cut_change *change)
{
    const int32_t *part = work->of.part;
    int32_t first = 0;

    change->count = 0;
    for (int s = 0; s < work->levels.count; s++) {
        const struct nw_switch_level *level = &work->levels.level[s];
        int32_t from = level->of[part[a]], to = level->of[part[b]];
        double mine[2] = {0, 0}, theirs[2] = {0, 0};

        if (from == to)
            break; /* and so above */
        min_max_cut_add_change(work, level, a, b, mine);
        min_max_cut_add_change(work, level, b, a, theirs);
        change->at[change->count] = first + from;
        change->more[change->count++] = level->weight * (mine[0] + theirs[1]);
        change->at[change->count] = first + to;
        change->more[change->count++] = level->weight * (mine[1] + theirs[0]);
        first += level->parts;
    }
}

static void min_max_cut_swap(struct min_max_cut_work *work, int32_t a,
                             int32_t b)
{
    double power = work->power, total = work->total, energy;
    double *leaving = work->leaving;
    struct min_max_cut_change change;

    min_max_cut_find_change(work, a, b, &change);
    for (int i = 0; i < change.count; i++) {
        double before = leaving[change.at[i]], after = before + change.more[i];

        power += nw_division_eighth(after / work->scale) -
                 nw_division_eighth(before / work->scale);
        total += change.more[i];
    }
    energy = min_max_cut_energy_of(work, power, total);
    if (energy > work->energy &&
        nw_random_unit(&work->of.random) >=
            exp((work->energy - energy) / work->temperature))
        return;
    nw_division_swap(&work->of, a, b);
    for (int i = 0; i < change.count; i++)
        leaving[change.at[i]] += change.more[i];
    work->power = power;
    work->total = total;
    work->energy = energy;
    nw_best_division_keep(&work->best, work->of.part, leaving,
                          work->of.slots->rank_count);
}

static void min_max_cut_try_swap(struct min_max_cut_work *work)
{
    int32_t n = work->of.slots->rank_count;
    int32_t a = (int32_t)nw_random_below(&work->of.random, (uint64_t)n);
    int32_t to = work->of.part[nw_division_draw_peer(&work->of, a)];

    if (work->of.part[a] != to)
        min_max_cut_swap(work, a, min_max_cut_draw_member(work, to));
}

/* --- the search --- */

/* Begins as hot as an edge of the mean size. */
static double min_max_cut_first_temperature(const struct nw_slots *slots)
{
    size_t edges = slots->row[slots->rank_count];
    double sum = 0;

    for (size_t t = 0; t < edges; t++)
        sum += slots->edge[t].out + slots->edge[t].in;
    return edges ? sum / (double)edges : 0;
}

static bool min_max_cut_run_round(struct min_max_cut_work *work, uint64_t draws)
{
    struct nw_budget *budget = work->of.slots->problem->budget;
    double cooling;

    cooling = pow(0.01, nw_tuned.min_max_cut.slice / (double)draws);
    work->temperature = min_max_cut_first_temperature(work->of.slots);
    min_max_cut_divide_at_random(work);
    for (uint64_t done = 0; done < draws;
         done += (uint64_t)nw_tuned.min_max_cut.slice) {
        for (int i = 0; i < nw_tuned.min_max_cut.slice; i++)
            min_max_cut_try_swap(work);
        min_max_cut_sum_up(work);
        work->temperature *= cooling;
        if (!nw_budget_spend(budget,
                             (uint64_t)(nw_tuned.min_max_cut.slice /
                                        nw_tuned.min_max_cut.draws_per_step),
                             work->best.least))
            return false;
    }
    return true;
}

/* Fewer where many ranks make them long, and where they seem to find nothing
 * after a carving. */
static void min_max_cut_run_rounds(struct min_max_cut_work *work, bool carved)
{
    double want =
        (double)work->of.slots->rank_count * nw_tuned.min_max_cut.draws_each;
    double part = fmin(1, nw_tuned.min_max_cut.draws_max / want);
    int rounds = (int)ceil(nw_tuned.min_max_cut.rounds * part * part), vain = 0;

    for (; rounds > 0 && vain < (carved ? nw_tuned.min_max_cut.vain_rounds
                                        : nw_tuned.min_max_cut.rounds);
         rounds--) {
        double before = work->best.least;

        if (!min_max_cut_run_round(work, (uint64_t)(part * want)))
            return;
        vain = work->best.least < before * (1 - 1e-9) ? 0 : vain + 1;
    }
}

/* As they are assigned. */
static void min_max_cut_begin(struct min_max_cut_work *work)
{
    const struct nw_slots *slots = work->of.slots;

    for (int32_t r = 0; r < slots->rank_count; r++)
        work->of.part[r] = work->of.groups.group[slots->host[slots->slot[r]]];
    for (int s = 0; s < work->levels.count; s++)
        work->best.parts += work->levels.level[s].parts;
    min_max_cut_count_leaving(work);
    work->best.least = INFINITY;
    nw_best_division_keep(&work->best, work->of.part, work->leaving,
                          slots->rank_count);
}

/* Patterns that are not grids are divided by all switch levels at once. */
static nw_status min_max_cut_begin_search(struct min_max_cut_work *work,
                                          bool *grid,
                                          struct nw_stencil *stencil)
{
    const struct nw_slots *slots = work->of.slots;
    nw_status status = nw_slots_find_grid(slots, stencil, grid);

    if (!status && *grid)
        nw_switch_levels_lowest(&work->of.groups, &work->levels);
    else if (!status)
        status = nw_switch_levels_find(slots, &work->of.groups, &work->levels);
    if (!status)
        min_max_cut_begin(work);
    return status;
}

/* True where it sends less than the assignment. */
static nw_status min_max_cut_search(struct min_max_cut_work *work, bool *unlike,
                                    bool *found)
{
    struct nw_stencil stencil;
    bool grid = false, even;
    double before;
    nw_status status = min_max_cut_begin_search(work, &grid, &stencil);

    before = work->best.least;
    even = grid && min_max_cut_are_equal(work);
    if (!status && (even || (grid && !min_max_cut_is_full(work))))
        status = nw_slicing_tree(work->of.slots, &stencil,
                                 work->of.groups.first, &work->best);
    if (!status)
        min_max_cut_run_rounds(work, even);
    *found = !status && work->best.least < before * (1 - 1e-9);
    *unlike = work->levels.count > 1;
    if (*found && !*unlike)
        status = nw_assign_groups(work->of.slots, &work->of.groups,
                                  &work->of.random, work->best.part, unlike);
    return status;
}

/* --- back to slots --- */

/* Anneals within the groups; then swaps nodes by `objectives` unless NULL. */
static nw_status
min_max_cut_anneal_within(struct min_max_cut_work *work,
                          const struct nw_objectives *objectives)
{
    struct nw_objectives near = {.first = NW_OBJECTIVE_HOP_BYTES,
                                 .second = NW_OBJECTIVE_CONGESTION};
    nw_status status;

    nw_switch_groups_assign(work->of.slots, &work->of.groups, work->best.part);
    work->of.slots->group = work->of.groups.group;
    status = nw_slots_anneal(work->of.slots, &near, NW_SEARCH_FULL);
    if (!status && objectives)
        status = nw_node_swaps(work->of.slots, objectives, NW_SEARCH_BRIEF);
    work->of.slots->group = NULL;
    return status;
}

static nw_status min_max_cut_alloc(struct min_max_cut_work *work,
                                   struct nw_slots *slots)
{
    nw_status status = nw_division_init(&work->of, slots);

    if (!status)
        status =
            NW_ALLOC_ALL(NW_ARRAY((size_t)slots->rank_count, work->best.part),
                         NW_ARRAY(NW_SWITCH_LEVELS_MAX * NW_SWITCH_GROUPS_MAX,
                                  work->leaving));
    return status;
}

nw_status nw_slots_min_max_cut(struct nw_slots *slots,
                               const struct nw_objectives *objectives,
                               bool *found)
{
    struct min_max_cut_work work = {.total = 0};
    bool unlike = false;
    nw_status status;

    *found = false;
    if (!nw_division_applies(slots, objectives))
        return NW_OK;
    status = min_max_cut_alloc(&work, slots);
    if (!status && nw_switch_groups_nearest(slots, &work.of.groups))
        status = min_max_cut_search(&work, &unlike, found);
    if (!status && *found)
        status = min_max_cut_anneal_within(&work, unlike ? objectives : NULL);
    nw_division_fini(&work.of);
    free(work.best.part);
    free(work.leaving);
    return status;
}

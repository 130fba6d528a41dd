/* SPDX-License-Identifier: BSD-3-Clause */
/* The search that lowers hop-bytes on a tree: starts, then again and again
 * swaps of whole subtrees from the largest down and swaps of processes. */
#include "map/multilevel/recursive_bisection.h"
#include "map/hierarchy/anneal_swaps_table.h"
#include "map/hierarchy/anneal_swaps.h"
#include "map/stencil/grid.h"
#include "base/array.h"
#include "base/crew.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tried swaps of default effort: so many for each of the first processes, fewer
 * for each of those beyond; for edges few enough. */
static const struct {
    int32_t from;
    uint64_t each;
} steps_each[] = {{0, 9000}, {512, 3600}, {4096, 300}};
#define DEGREE 6.0
/* Grids are swapped for about as long as they are read and cut: the smallest,
 * which are annealed, less, but once more from hotter. */
static const struct {
    int32_t count_most;
    uint64_t steps;
    double again; /* temperature; 0: not */
} grid_swaps[] = {{2048, 100000, 2}, {4096, 400000, 0}, {INT32_MAX, 250000, 0}};
#define STENCIL_STEPS_MIN_EACH 30
/* A tenth of a second where it is done twice. */
#define EDGES_SWAPPED 5000000
#define EDGES_SWAPPED_AGAIN 4000000 /* more are not swapped once more */

#define ROUNDS 50
/* Temperature of the first round, by how many processes share the steps. */
static double multilevel_temperature_of(int32_t count)
{
    return count > 8192 ? 1 : count > 1024 ? 1.4 : 5;
}

/* Repeated cuts gain more than swaps do, as far as they cost as little. */
#define REPEATS_MAX 24
#define REPEATED_EDGES 800000
/* Tries of a process on a level, and of all together. */
#define ANNEAL_TRIES_EACH 8000
#define ANNEAL_TRIES_MAX 30000000
/* Limit on the trials of few processes, in edges looked at, and the fixed cost
 * of a trial. */
#define ANNEAL_COST_MAX 40
#define ANNEAL_COST_EACH 8
#define ANNEALED_ALWAYS 8191 /* processes; larger only without a shape */
#define ANNEALED_REPEATS 3
#define ANNEALED_FEW 1024 /* processes */
#define TOP_CUTS 24       /* of starts, from which those annealed are chosen */
#define FEW_LESS 8        /* swaps after them */
#define STARTED_LESS 16   /* swaps after them, and colder */
#define STARTED_TEMPERATURE 0.5
/* With few processes, swaps alternate with swaps of subtrees, more often with
 * many levels and with twice the steps. Later turns keep improvements of
 * earlier ones. */
#define LEVELS_FEW 6
#define CYCLES 4
#define CYCLES_DEEP 8
#define CYCLES_MORE 2
#define ANNEALED_LESS 5 /* swaps afterwards, and colder */
#define ANNEALED_TEMPERATURE 0.3
#define HUBS_FEWER 8192 /* processes, and annealed: hubs are swapped less */
#define SUBTREE_TEMPERATURE 0.1 /* of whole subtrees */
/* of anything that was annealed and is annealed with the table */
#define SWAPS_TABLE_TEMPERATURE 0.35
#define TURNS_TEMPERATURE 0.6 /* in turns */
#define STENCIL_TEMPERATURE 0.5

static double multilevel_degree_of(const struct nw_assignment *assignment)
{
    return assignment->count ? (double)assignment->row[assignment->count] /
                                   (double)assignment->count
                             : 0;
}

static uint64_t multilevel_steps_of(const struct nw_assignment *assignment,
                                    enum nw_effort effort)
{
    double degree = multilevel_degree_of(assignment);
    int32_t end = assignment->count;
    uint64_t steps = 0;

    for (size_t i = sizeof steps_each / sizeof *steps_each; i-- > 0;)
        if (end > steps_each[i].from) {
            steps += (uint64_t)(end - steps_each[i].from) * steps_each[i].each;
            end = steps_each[i].from;
        }
    if (degree > DEGREE)
        steps = (uint64_t)((double)steps * 2 * DEGREE / (DEGREE + degree));
    if (effort == NW_EFFORT_FAST)
        steps /= 4;
    return effort == NW_EFFORT_STRONG ? 8 * steps : steps;
}

/* One search after the other, each from where the last one ended. */
struct multilevel_search {
    struct nw_assignment *assignment;
    const struct nw_placement *placement;
    double cost;
    uint64_t seed, steps; /* of a cycle */
    int cycles;           /* by effort */
    double temperature;
    bool sparing;                   /* with hubs */
    double swaps_table_temperature; /* initial temperature with the delta table
                                       if it fits; 0: without the table */
};

/* The processes of an assignment, which may stand for subtrees. */
static nw_status multilevel_anneal(const struct multilevel_search *search,
                                   struct nw_assignment *assignment,
                                   uint64_t seed, uint64_t steps,
                                   double temperature, double *cost)
{
    struct nw_budget *budget = search->placement->budget;
    struct nw_anneal_swaps_table swaps_table = {assignment,
                                                budget,
                                                seed,
                                                steps,
                                                ROUNDS,
                                                search->swaps_table_temperature,
                                                nw_assignment_cost(assignment)};
    struct nw_anneal_swaps anneal_swaps = {.assignment = assignment,
                                           .budget = budget,
                                           .seed = seed,
                                           .steps = steps,
                                           .rounds = ROUNDS,
                                           .temperature = temperature,
                                           .sparing = search->sparing,
                                           .cost = swaps_table.cost};
    bool fits = search->swaps_table_temperature > 0 &&
                nw_anneal_swaps_table_fits(assignment);
    nw_status status = fits ? nw_anneal_swaps_table(&swaps_table)
                            : nw_anneal_swaps(&anneal_swaps);

    *cost = fits ? swaps_table.cost : anneal_swaps.cost;
    return status;
}

static nw_status multilevel_anneal_subtrees(struct multilevel_search *search,
                                            int32_t level)
{
    struct nw_assignment lifted;
    struct nw_hierarchy hierarchy;
    double cost;
    nw_status status =
        nw_assignment_contract(search->assignment, level, &lifted, &hierarchy);

    if (status)
        return status;
    status = multilevel_anneal(search, &lifted, search->seed + (uint64_t)level,
                               search->steps * (uint64_t)lifted.count /
                                   (uint64_t)(search->assignment->count + 1),
                               SUBTREE_TEMPERATURE, &cost);
    if (!status)
        status = nw_assignment_project(search->assignment, level, &lifted);
    nw_assignment_fini(&lifted);
    nw_hierarchy_fini(&hierarchy);
    return status;
}

static nw_status multilevel_anneal_processes(struct multilevel_search *search)
{
    return multilevel_anneal(search, search->assignment, search->seed,
                             search->steps, search->temperature, &search->cost);
}

static nw_status multilevel_cycle(struct multilevel_search *search)
{
    const struct nw_hierarchy *hierarchy = search->assignment->hierarchy;
    nw_status status = NW_OK;

    for (int32_t level = hierarchy->levels - 3; !status && level > 0; level--)
        if (!search->assignment->load && !search->placement->budget->stopped)
            status = multilevel_anneal_subtrees(search, level);
    if (!status && !search->placement->budget->stopped)
        status = multilevel_anneal_processes(search);
    return status;
}

/* Some cycles by effort; with a time or steps given longer and longer ones. */
static nw_status multilevel_search_on(struct multilevel_search *search)
{
    struct nw_budget *budget = search->placement->budget;
    uint64_t cycles = (uint64_t)search->cycles;
    nw_status status = NW_OK;

    budget->expected = budget->steps + cycles * search->steps;
    for (uint64_t i = 0; !status && i < cycles && !budget->stopped; i++) {
        search->seed += i ? 1000 : 0;
        status = multilevel_cycle(search);
    }
    while (!status && budget->anytime && !budget->stopped) {
        uint64_t before = budget->steps;

        search->seed += 1000;
        search->steps += search->steps / 2;
        status = multilevel_cycle(search);
        if (budget->steps == before)
            break; /* a machine without anything to choose */
    }
    return status;
}

static int multilevel_repeats_of(const struct multilevel_search *search)
{
    const struct nw_assignment *assignment = search->assignment;
    size_t edges = assignment->row[assignment->count] + 1,
           most = REPEATED_EDGES;
    enum nw_effort effort = search->placement->budget->effort;

    if (effort == NW_EFFORT_FAST)
        most /= 4;
    if (effort == NW_EFFORT_STRONG)
        most *= 4;
    if (most < edges)
        return 1;
    return most / edges < REPEATS_MAX ? (int)(most / edges) : REPEATS_MAX;
}

/* Starts that are annealed, at default effort or more: the first gets a share
 * of the trials, and so does each other one if the pattern has small
 * separators; with many starts, only one other. Expander-like patterns are
 * annealed once more for the rest. */
static const struct multilevel_anneals {
    uint64_t more;
    double first, others;
} few_anneals = {6, 0.35, 0.35}, deep_anneals = {5, 0.35, 0.35},
  many_anneals = {0, 1, 0.5};

static bool multilevel_are_few(const struct multilevel_search *search)
{
    return search->assignment->count <= ANNEALED_FEW &&
           search->placement->budget->effort != NW_EFFORT_FAST;
}

static const struct multilevel_anneals *
multilevel_anneals_of(const struct multilevel_search *search)
{
    if (!multilevel_are_few(search))
        return &many_anneals;
    return search->assignment->hierarchy->levels > LEVELS_FEW ? &deep_anneals
                                                              : &few_anneals;
}

static bool multilevel_has_two_starts(const struct multilevel_search *search)
{
    return search->assignment->count > ANNEALED_FEW &&
           search->assignment->count <= ANNEALED_ALWAYS &&
           search->placement->budget->effort != NW_EFFORT_FAST;
}

static void multilevel_share_out_cycles(struct multilevel_search *search)
{
    if (!multilevel_are_few(search))
        return;
    search->cycles = search->assignment->hierarchy->levels > LEVELS_FEW
                         ? CYCLES_DEEP
                         : CYCLES;
    search->steps = search->steps * CYCLES_MORE / (uint64_t)search->cycles;
    search->swaps_table_temperature = TURNS_TEMPERATURE;
}

static uint64_t multilevel_anneal_tries(const struct multilevel_search *search,
                                        double share)
{
    enum nw_effort effort = search->placement->budget->effort;
    uint64_t tries =
        ANNEAL_TRIES_MAX / (uint64_t)(search->assignment->count + 1);
    double cost = ANNEAL_COST_EACH + multilevel_degree_of(search->assignment);

    if (tries > ANNEAL_TRIES_EACH)
        tries = ANNEAL_TRIES_EACH;
    if (effort == NW_EFFORT_FAST)
        tries /= 4;
    if (effort == NW_EFFORT_STRONG)
        tries *= 8;
    if (multilevel_are_few(search))
        share *= fmin(1, ANNEAL_COST_MAX / cost);
    return (uint64_t)(share * (double)tries);
}

/* Annealed, but for the first one after a longer search for cuts. */
static nw_status multilevel_start_init(const struct multilevel_search *search,
                                       uint64_t number, double share,
                                       struct nw_recursive_bisection *out)
{
    bool few = search->assignment->count <= ANNEALED_FEW;

    *out = (struct nw_recursive_bisection){
        .assignment = search->assignment,
        .seed = search->seed + 7919 * number,
        .repeats = number ? ANNEALED_REPEATS : 1,
        .tries = number && few ? 1 : 2,
        .threads = search->placement->budget->threads,
        .anneal = multilevel_anneal_tries(search, share),
        .pairwise = search->assignment->count <= ANNEALED_ALWAYS,
        .budget = search->placement->budget};
    return nw_alloc((size_t)search->assignment->count, sizeof *out->slot,
                    &out->slot);
}

/* Two starts, of which the second is for patterns with a shape. */
static nw_status multilevel_take_two(struct multilevel_search *search,
                                     bool *expander_like)
{
    const struct multilevel_anneals *anneals = multilevel_anneals_of(search);
    struct nw_recursive_bisection start[2] = {{0}};
    bool both = false;
    nw_status status =
        multilevel_start_init(search, 0, anneals->first, &start[0]);

    if (!status)
        status = multilevel_start_init(search, 1, anneals->others, &start[1]);
    if (!status)
        status = nw_two_starts(start, &both);
    for (int i = 0; !status && i < (both ? 2 : 1); i++)
        status = nw_assignment_take_if_better(search->assignment, start[i].slot,
                                              &search->cost);
    *expander_like = start[0].expander_like;
    free(start[0].slot);
    free(start[1].slot);
    return status;
}

/* *expander-like: the pattern has no shape that cuts could follow; large ones
 * with a shape are left alone. */
static nw_status multilevel_take_annealed(struct multilevel_search *search,
                                          bool *expander_like)
{
    struct nw_recursive_bisection bisect;
    nw_status status = multilevel_start_init(
        search, 0, multilevel_anneals_of(search)->first, &bisect);

    bisect.only_expander_like = search->assignment->count > ANNEALED_ALWAYS;
    if (!status)
        status = nw_recursive_bisection(&bisect);
    if (!status && (bisect.expander_like || !bisect.only_expander_like))
        status = nw_assignment_take_if_better(search->assignment, bisect.slot,
                                              &search->cost);
    *expander_like = bisect.expander_like;
    free(bisect.slot);
    return status;
}

/* The slots of a bisection where they are better. */
static nw_status multilevel_take(struct multilevel_search *search,
                                 struct nw_recursive_bisection *bisect)
{
    nw_status status = nw_alloc((size_t)search->assignment->count,
                                sizeof *bisect->slot, &bisect->slot);

    bisect->assignment = search->assignment;
    bisect->budget = search->placement->budget;
    bisect->threads = bisect->budget->threads;
    if (!status)
        status = nw_recursive_bisection(bisect);
    if (!status)
        status = nw_assignment_take_if_better(search->assignment, bisect->slot,
                                              &search->cost);
    free(bisect->slot);
    return status;
}

/* Once and in haste with 0 repeats. */
static nw_status multilevel_take_bisection(struct multilevel_search *search,
                                           uint64_t seed, int repeats)
{
    struct nw_recursive_bisection bisect = {.seed = seed,
                                            .repeats = repeats ? repeats : 1,
                                            .tries = repeats ? 4 : 1};

    return multilevel_take(search, &bisect);
}

static nw_status multilevel_anneal_again(struct multilevel_search *search,
                                         uint64_t number, double share)
{
    struct nw_recursive_bisection bisect;
    nw_status status;

    if (search->placement->budget->stopped)
        return NW_OK;
    status = multilevel_start_init(search, number, share, &bisect);
    if (!status)
        status = nw_recursive_bisection(&bisect);
    if (!status)
        status = nw_assignment_take_if_better(search->assignment, bisect.slot,
                                              &search->cost);
    free(bisect.slot);
    return status;
}

/* The first cuts of a start, which annealing hardly improves. */
struct multilevel_top_cut {
    uint64_t number; /* of the start */
    double cut;      /* bytes between the top's children */
};

static int multilevel_by_cut(const void *left, const void *right)
{
    const struct multilevel_top_cut *a = left, *b = right;

    if (a->cut != b->cut)
        return a->cut < b->cut ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static double multilevel_cut_at_top(const struct nw_assignment *assignment,
                                    const int32_t *slot)
{
    const int32_t *child =
        assignment->hierarchy->cluster[assignment->hierarchy->levels - 2];
    double cut = 0;

    for (int32_t p = 0; p < assignment->count; p++)
        for (size_t b = assignment->row[p]; b < assignment->row[p + 1]; b++)
            if (child[slot[p]] != child[slot[assignment->edge[b].peer]])
                cut += assignment->edge[b].bytes;
    return cut / 2;
}

static nw_status multilevel_draw(const struct multilevel_search *search,
                                 struct multilevel_top_cut *top_cut)
{
    struct nw_recursive_bisection bisect;
    nw_status status =
        multilevel_start_init(search, top_cut->number, 0, &bisect);

    bisect.top_cut = true;
    if (!status)
        status = nw_recursive_bisection(&bisect);
    if (!status)
        top_cut->cut = multilevel_cut_at_top(search->assignment, bisect.slot);
    free(bisect.slot);
    return status;
}

/* Anneals the starts that cut least at the top, of many. */
static nw_status multilevel_anneal_chosen(struct multilevel_search *search)
{
    const struct multilevel_anneals *anneals = multilevel_anneals_of(search);
    struct multilevel_top_cut top_cut[TOP_CUTS];
    nw_status status = NW_OK;

    for (uint64_t i = 0; !status && i < TOP_CUTS; i++) {
        top_cut[i].number = i + 1;
        status = multilevel_draw(search, &top_cut[i]);
    }
    if (status)
        return status;
    qsort(top_cut, TOP_CUTS, sizeof *top_cut, multilevel_by_cut);
    for (uint64_t i = 0; !status && i < anneals->more; i++)
        status =
            multilevel_anneal_again(search, top_cut[i].number, anneals->others);
    return status;
}

/* With few processes, annealing between levels gives better starts than cuts
 * alone. */
static nw_status
multilevel_take_annealed_again(struct multilevel_search *search)
{
    nw_status status =
        multilevel_are_few(search) ? multilevel_anneal_chosen(search) : NW_OK;

    search->steps /= multilevel_are_few(search) ? FEW_LESS : STARTED_LESS;
    search->temperature *= STARTED_TEMPERATURE;
    multilevel_share_out_cycles(search);
    return status;
}

static uint64_t multilevel_grid_patience(const struct multilevel_search *search)
{
    return search->placement->budget->effort == NW_EFFORT_STRONG ? 30 : 1;
}

/* Ways to bisection a grid, the most useful first, and what each costs for a
 * edge beside the others. */
static const struct {
    int kinds;
    double cost, cost_of_dimension;
} grid_starts[] = {
    {NW_RB_START_STRIPES | NW_RB_START_GROWN, 7.5, 1},
    {NW_RB_START_STRIPES | NW_RB_START_GROWN | NW_RB_START_PACKED, 7.5, 1},
    {NW_RB_START_STRIPES | NW_RB_START_GROWN | NW_RB_START_SPREAD, 7.5, 1},
    {NW_RB_START_GROWN, 7.5, 0},
    {NW_RB_START_STRIPES, 0, 1},
    {NW_RB_START_STRIPES | NW_RB_START_FIRST, 2.5, 1},
    {NW_RB_START_STRIPES | NW_RB_START_PACKED, 0, 1},
};

#define GRID_STARTS (int)(sizeof grid_starts / sizeof *grid_starts)
#define GRID_ROUNDS 4
#define GRID_LOOSE 0.2             /* of all rounds but the first */
#define GRID_BISECTION_COST 300000 /* of all bisections of a grid together */

/* Large grids: bisections that begin with the least straight cuts and some
 * grown ones, and their cost per edge and process. They get the time of swaps
 * if these gain little, and of most kinds of tilings. */
static const int multilevel_starts[] = {0, NW_RB_START_LAST,
                                        NW_RB_START_FIRST | NW_RB_START_LAST,
                                        NW_RB_START_GROWN};
#define STARTS (int)(sizeof multilevel_starts / sizeof *multilevel_starts)
#define FILLINGS 3

static const struct {
    double edge, process;
} straight_cost = {0.6, 4.5}, grown_cost = {0.5, 3.5};

/* of all of them, or so much for each process */
#define STRAIGHT_MAX 800000
#define STRAIGHT_MAX_EACH 16
#define CUT_DIMS 4        /* more are not cut, but into boxes */
#define TILED_ALWAYS 8192 /* processes at most that are tiled in all ways */
#define GRID_SWAPS_COST 400000

/* Where ranks have many partners: bisections cost more, and swaps are fewer. */
#define GRID_BISECTION_DENSER 2
#define GRID_SWAPS_DENSER 2

static double multilevel_kind_cost(const struct multilevel_search *search,
                                   const struct nw_stencil *stencil, int kind)
{
    const struct nw_assignment *assignment = search->assignment;
    double edges = (double)assignment->row[assignment->count] + 1;

    return edges * (grid_starts[kind].cost +
                    grid_starts[kind].cost_of_dimension * stencil->dims);
}

/* Even the first kind costs more than all may, if a swap gains little: it is
 * worth more than swaps of the same time. */
static bool multilevel_is_denser(const struct multilevel_search *search,
                                 const struct nw_stencil *stencil)
{
    double cost = multilevel_kind_cost(search, stencil, 0);

    return search->assignment->count <= grid_swaps[0].count_most &&
           cost > GRID_BISECTION_COST &&
           cost <= GRID_BISECTION_DENSER * GRID_BISECTION_COST;
}

static bool multilevel_is_searched_twice(const struct multilevel_search *search,
                                         const struct nw_stencil *stencil)
{
    return search->assignment->count <= grid_swaps[0].count_most &&
           stencil->dims > 1 &&
           search->placement->budget->effort != NW_EFFORT_FAST;
}

/* Few ranks with so many peers that one start with its swaps takes as long as
 * all other starts: power diagrams come first. */
static bool multilevel_is_costly(const struct multilevel_search *search,
                                 const struct nw_stencil *stencil)
{
    return multilevel_is_searched_twice(search, stencil) &&
           multilevel_kind_cost(search, stencil, 0) >
               (double)(GRID_BISECTION_COST * multilevel_grid_patience(search));
}

/* Where every slot is taken, packing changes nothing. */
static bool multilevel_is_for(const struct multilevel_search *search, int kinds)
{
    return !(kinds & (NW_RB_START_PACKED | NW_RB_START_SPREAD)) ||
           search->assignment->hierarchy->slots > search->assignment->count;
}

/* Another answer at each round but the first. */
static nw_status multilevel_start_kind(struct multilevel_search *search,
                                       const struct nw_stencil *stencil,
                                       int kinds, int round)
{
    struct nw_recursive_bisection bisect = {.seed =
                                                search->seed + (uint64_t)round,
                                            .stencil = stencil,
                                            .kinds = kinds,
                                            .loose = round ? GRID_LOOSE : 0};

    return multilevel_take(search, &bisect);
}

/* Power diagrams may find what straight cuts cannot. */
static nw_status multilevel_bisect_grid(struct multilevel_search *search,
                                        const struct nw_stencil *stencil,
                                        double left)
{
    nw_status status = NW_OK;

    for (int i = 0; !status && i < GRID_ROUNDS * GRID_STARTS; i++) {
        int kind = i % GRID_STARTS;
        double cost = multilevel_kind_cost(search, stencil, kind);

        if (cost > left ||
            !multilevel_is_for(search, grid_starts[kind].kinds) ||
            search->placement->budget->stopped)
            continue;
        left -= cost;
        status = multilevel_start_kind(search, stencil, grid_starts[kind].kinds,
                                       i / GRID_STARTS);
    }
    return status;
}

static double multilevel_start_cost(const struct nw_assignment *assignment,
                                    int start)
{
    int grown = __builtin_popcount((unsigned)start & NW_RB_START_GROWN);
    double edges = (double)assignment->row[assignment->count];

    return edges * (straight_cost.edge + grown * grown_cost.edge) +
           assignment->count *
               (straight_cost.process + grown * grown_cost.process);
}

static double multilevel_straight_most(const struct nw_assignment *assignment)
{
    return fmax(STRAIGHT_MAX, STRAIGHT_MAX_EACH * (double)assignment->count);
}

/* Ways to fill a machine that differ. */
static int multilevel_list_fillings(const struct nw_assignment *assignment,
                                    int *list)
{
    int count = 0;

    if (assignment->hierarchy->slots > assignment->count)
        list[count++] = NW_RB_START_PACKED;
    list[count++] = 0;
    if (nw_stencil_may_spread(assignment))
        list[count++] = NW_RB_START_SPREAD;
    return count;
}

/* The most starts that so much is enough for; -1: none. */
static int multilevel_most_starts(const struct nw_assignment *assignment,
                                  double left)
{
    int start = STARTS - 1;

    while (start >= 0 &&
           multilevel_start_cost(assignment, multilevel_starts[start]) > left)
        start--;
    return start;
}

/* The best filling so far, and its start; -1: none. */
struct multilevel_filled {
    int kind, start;
};

/* How many fillings there is time to compare, and from which starts, leaving
 * time for one more bisection. */
static int multilevel_number_apart(const struct nw_assignment *assignment,
                                   int count, double left, int *start)
{
    double few = multilevel_start_cost(assignment, multilevel_starts[0]);
    double more = multilevel_start_cost(assignment, multilevel_starts[1]);

    if (count > 2 && count * few + more > left)
        count = 2;
    *start = count * few + more > left || (count + 1) * more <= left;
    *start &= count * more <= left;
    return count > 1 && count * few <= left ? count : 0;
}

static nw_status multilevel_choose_filling(struct multilevel_search *search,
                                           const struct nw_stencil *stencil,
                                           int always, double *left,
                                           struct multilevel_filled *best)
{
    const struct nw_assignment *assignment = search->assignment;
    int filling[FILLINGS], all = multilevel_list_fillings(assignment, filling),
                           start;
    int count = multilevel_number_apart(assignment, all, *left, &start);
    nw_status status = NW_OK;

    *best = (struct multilevel_filled){filling[0], count ? start : -1};
    for (int i = 0; !status && i < count; i++) {
        double before = search->cost;

        if (search->placement->budget->stopped)
            break;
        *left -= multilevel_start_cost(assignment, multilevel_starts[start]);
        status = multilevel_start_kind(
            search, stencil, always | multilevel_starts[start] | filling[i], 0);
        if (search->cost < before)
            best->kind = filling[i];
    }
    return status;
}

static nw_status multilevel_bisect_straight(struct multilevel_search *search,
                                            const struct nw_best_tiling *tile,
                                            double left)
{
    const struct nw_assignment *assignment = search->assignment;
    int always =
        NW_RB_START_STRAIGHT | (tile->layered ? NW_RB_START_LAYERS : 0);
    struct multilevel_filled best;
    nw_status status =
        multilevel_choose_filling(search, &tile->stencil, always, &left, &best);

    for (int round = 0; !status && round < GRID_ROUNDS; round++) {
        int start = multilevel_most_starts(assignment, left);

        if (start < 0 || (start == 0 && best.start >= 0) ||
            search->placement->budget->stopped)
            break;
        left -= multilevel_start_cost(assignment, multilevel_starts[start]);
        status =
            multilevel_start_kind(search, &tile->stencil,
                                  always | best.kind | multilevel_starts[start],
                                  round + (start <= best.start));
    }
    return status;
}

/* Bisections of the largest grids take seconds, and seldom gain if the cost is
 * near the lower bound. */
#define NEAR_MIN 1.025
#define NEAR_FROM 262144 /* cells */

static bool multilevel_is_near_least(const struct multilevel_search *search,
                                     const struct nw_stencil *stencil)
{
    return search->assignment->count > NEAR_FROM &&
           search->cost <=
               NEAR_MIN * nw_stencil_lower_bound(search->assignment, stencil);
}

/* Cells that fill boxes, or lie in a plane, leave nothing to bisections of
 * large grids; round parts leave little to those of small dense ones. */
static nw_status multilevel_cuts_max(struct multilevel_search *search,
                                     const struct nw_best_tiling *tile,
                                     bool swapped)
{
    const struct nw_stencil *stencil = &tile->stencil;
    double left =
        (double)(GRID_BISECTION_COST * multilevel_grid_patience(search));

    if (multilevel_is_denser(search, stencil))
        left *= GRID_BISECTION_DENSER;
    if (multilevel_kind_cost(search, stencil, 0) <= left || tile->boxed ||
        stencil->dims < 3)
        return multilevel_bisect_grid(search, stencil, left);
    if (multilevel_is_costly(search, stencil) ||
        multilevel_is_near_least(search, stencil))
        return NW_OK;
    left = multilevel_straight_most(search->assignment) *
           (double)multilevel_grid_patience(search);
    return multilevel_bisect_straight(search, tile,
                                      left - (swapped ? GRID_SWAPS_COST : 0));
}

/* Where cells fill no boxes, but all slots, round parts are mostly better than
 * any cuts; which slots to leave free bisections tell. */
#define POWER_DIAGRAM_MAX 4096 /* processes: of more they take too long, */
/* but where borders askew cost little more */
#define POWER_DIAGRAM_MAX_ASKEW 10000
#define POWER_DIAGRAM_ASKEW 1.2 /* than others */
/* in edges looked at, of all levels */
#define POWER_DIAGRAM_ANNEAL_COST 16000000
#define POWER_DIAGRAM_COST_EACH 8 /* of a try beside the edges */
/* of the best cuts: no bisections of those */
#define POWER_DIAGRAM_ENOUGH 0.992

static double multilevel_across(const struct nw_stencil *stencil, int d)
{
    double sum = 0;

    for (int i = 0; i < stencil->offsets; i++)
        sum += stencil->bytes[i] * abs(stencil->offset[i][d]);
    return fmax(sum, 1);
}

/* Of the first two dimensions: bytes across a border halfway between them,
 * beside those across one of them. */
static double multilevel_across_askew(const struct nw_stencil *stencil)
{
    double first = multilevel_across(stencil, 0),
           second = multilevel_across(stencil, 1), sum = 0;

    for (int i = 0; i < stencil->offsets; i++)
        sum += stencil->bytes[i] * fabs(stencil->offset[i][0] / first +
                                        stencil->offset[i][1] / second);
    return sum * sqrt(0.5);
}

static bool
multilevel_may_use_power_diagram(const struct multilevel_search *search,
                                 const struct nw_best_tiling *tile)
{
    const struct nw_assignment *assignment = search->assignment;

    return !tile->boxed && tile->stencil.dims > 1 &&
           (assignment->count <= POWER_DIAGRAM_MAX ||
            (assignment->count <= POWER_DIAGRAM_MAX_ASKEW &&
             multilevel_across_askew(&tile->stencil) < POWER_DIAGRAM_ASKEW)) &&
           assignment->hierarchy->slots == assignment->count &&
           !search->placement->budget->stopped;
}

static nw_status
multilevel_power_diagram_parts(struct multilevel_search *search,
                               const struct nw_stencil *stencil,
                               uint64_t number, int kinds)
{
    const struct nw_assignment *assignment = search->assignment;
    double cost = (double)assignment->row[assignment->count] +
                  POWER_DIAGRAM_COST_EACH * (double)assignment->count;
    double tries = POWER_DIAGRAM_ANNEAL_COST *
                   (double)multilevel_grid_patience(search) / cost;
    struct nw_recursive_bisection bisect = {
        .seed = search->seed + number,
        .stencil = stencil,
        .kinds = kinds,
        .rounded = true,
        .anneal =
            (uint64_t)(tries / fmax(1, assignment->hierarchy->levels - 2))};

    return multilevel_take(search, &bisect);
}

static nw_status
multilevel_power_diagram_or_bisect(struct multilevel_search *search,
                                   const struct nw_best_tiling *tile,
                                   bool swapped)
{
    double begun = search->cost;
    nw_status status;

    if (!multilevel_may_use_power_diagram(search, tile))
        return multilevel_cuts_max(search, tile, swapped);
    status = multilevel_power_diagram_parts(search, &tile->stencil, 0,
                                            NW_RB_START_STRAIGHT);
    if (status || multilevel_is_costly(search, &tile->stencil) ||
        (search->assignment->count > POWER_DIAGRAM_MAX &&
         search->cost <= POWER_DIAGRAM_ENOUGH * begun))
        return status;
    return multilevel_cuts_max(search, tile, swapped);
}

/* Small grids are annealed as other patterns are, from cuts across: that
 * reaches what borders moved one after the other do not. */
#define GRID_ANNEAL_COST 16000000 /* in edges looked at, all tries together */
#define GRID_ANNEAL_COST_EACH 8   /* of a try beside the edges */
#define GRID_ANNEAL_TRIES 1500    /* of a cell, at most about */
#define GRID_ANNEALS_MAX 6
#define GRID_ANNEAL_COSTLY 0.2 /* of it */
#define GRID_EVEN 1.1          /* most across one dimension beside another's */

static bool multilevel_is_even(const struct nw_stencil *stencil)
{
    double least = INFINITY, most = 0;

    for (int d = 0; d < stencil->dims; d++) {
        double sum = multilevel_across(stencil, d);

        least = fmin(least, sum);
        most = fmax(most, sum);
    }
    return most <= GRID_EVEN * least;
}

/* Beside round parts cuts gain little where all dimensions are alike. */
static double multilevel_anneal_worth(const struct multilevel_search *search,
                                      const struct nw_stencil *stencil)
{
    if (!multilevel_is_costly(search, stencil))
        return 1;
    return multilevel_is_even(stencil) ? 0 : GRID_ANNEAL_COSTLY;
}

static nw_status multilevel_anneal_grid(struct multilevel_search *search,
                                        const struct nw_stencil *stencil)
{
    const struct nw_assignment *assignment = search->assignment;
    double cost = (double)assignment->row[assignment->count] +
                  GRID_ANNEAL_COST_EACH * (double)assignment->count;
    double tries =
        GRID_ANNEAL_COST * (double)multilevel_grid_patience(search) / cost;
    int anneals =
        (int)fmax(1, fmin(GRID_ANNEALS_MAX, tries / GRID_ANNEAL_TRIES));
    double worth = multilevel_anneal_worth(search, stencil);
    nw_status status = NW_OK;

    if (assignment->count > grid_swaps[0].count_most || worth <= 0)
        return NW_OK;
    for (int i = 1; !status && i <= anneals; i++) {
        struct nw_recursive_bisection bisect = {
            .seed = search->seed + (uint64_t)i,
            .stencil = stencil,
            .kinds = NW_RB_START_STRIPES,
            .anneal = (uint64_t)(worth * tries / anneals)};

        if (!search->placement->budget->stopped)
            status = multilevel_take(search, &bisect);
    }
    return status;
}

static nw_status multilevel_swap_grid(struct multilevel_search *search,
                                      uint64_t steps, double temperature)
{
    search->temperature = temperature;
    search->seed += 1000;
    if (search->steps > steps)
        search->steps = steps;
    return multilevel_search_on(search);
}

/* Swaps of ranks with many partners take as much longer each. */
static uint64_t multilevel_swaps_of(const struct multilevel_search *search,
                                    const struct nw_stencil *stencil, int kind)
{
    uint64_t most = grid_swaps[kind].steps;
    uint64_t count = (uint64_t)search->assignment->count;
    uint64_t edges = search->assignment->row[count];

    if (most * edges / count > EDGES_SWAPPED)
        most = EDGES_SWAPPED * count / edges;
    if (multilevel_is_denser(search, stencil))
        most /= GRID_SWAPS_DENSER;
    return most * multilevel_grid_patience(search);
}

/* Temperature of the second time; 0: once is enough. */
static double multilevel_reheat(const struct multilevel_search *search,
                                int kind)
{
    uint64_t count = (uint64_t)search->assignment->count;
    uint64_t edges = search->assignment->row[count];

    if (multilevel_grid_patience(search) == 1 &&
        grid_swaps[kind].steps * edges > EDGES_SWAPPED_AGAIN * count)
        return 0;
    return grid_swaps[kind].again;
}

/* The best cuts, and few swaps. */
static nw_status multilevel_cut_and_swap(struct multilevel_search *search,
                                         const struct nw_best_tiling *tile)
{
    struct nw_budget *budget = search->placement->budget;
    int32_t count = search->assignment->count;
    uint64_t worth = (uint64_t)count * STENCIL_STEPS_MIN_EACH, most;
    bool anytime = budget->anytime, swapped;
    double again;
    nw_status status;
    int i = 0;

    while (count > grid_swaps[i].count_most)
        i++;
    most = multilevel_swaps_of(search, &tile->stencil, i);
    swapped = anytime || worth <= most;
    status = multilevel_power_diagram_or_bisect(search, tile, swapped);
    if (!status)
        status = multilevel_anneal_grid(search, &tile->stencil);
    if (status || budget->stopped || !swapped)
        return status;
    again = multilevel_reheat(search, i);
    budget->anytime = anytime && again <= 0;
    status = multilevel_swap_grid(search, most, STENCIL_TEMPERATURE);
    budget->anytime = anytime;
    if (!status && again > 0 && !budget->stopped)
        status = multilevel_swap_grid(search, most, again);
    return status;
}

/* With few ranks in addition: power diagrams alone, whose starts differ in
 * quality. Swaps from each start find more than swaps from the best one. */
static const struct {
    int32_t count_most;
    int rounds;
} rounds_beside[] = {{512, 3}, {1024, 2}, {INT32_MAX, 1}};

static int multilevel_rounds_of(const struct multilevel_search *search,
                                const struct nw_best_tiling *tile)
{
    int i = 0;

    if (!multilevel_is_searched_twice(search, &tile->stencil))
        return 0;
    while (search->assignment->count > rounds_beside[i].count_most)
        i++;
    return rounds_beside[i].rounds;
}

struct multilevel_grid_search {
    struct multilevel_search search;
    const struct nw_best_tiling *tile;
    struct nw_placement placement; /* of the second one */
    struct nw_budget budget;
    struct nw_assignment assignment;
};

static nw_status multilevel_run_cuts(void *user)
{
    struct multilevel_grid_search *grid = user;

    return multilevel_cut_and_swap(&grid->search, grid->tile);
}

static nw_status multilevel_run_rounds(void *user)
{
    struct multilevel_grid_search *grid = user;
    struct multilevel_search *search = &grid->search;
    const struct nw_budget *budget = search->placement->budget;
    const struct nw_stencil *stencil = &grid->tile->stencil;
    int filling[FILLINGS],
        count = multilevel_list_fillings(search->assignment, filling);
    int rounds = multilevel_rounds_of(search, grid->tile);
    uint64_t most;
    nw_status status = NW_OK;

    for (int i = 0; !status && !budget->stopped && i < rounds; i++) {
        bool straight = i % 2 || rounds == 1;

        status = multilevel_power_diagram_parts(
            search, stencil, (uint64_t)i + 1,
            filling[i % count] |
                (straight ? NW_RB_START_STRAIGHT : NW_RB_START_STRIPES));
    }
    if (status || budget->stopped)
        return status;
    most = multilevel_swaps_of(search, stencil, 0);
    return multilevel_swap_grid(
        search, multilevel_is_costly(search, stencil) ? most / 2 : most,
        STENCIL_TEMPERATURE);
}

/* Works on slots of its own and reports no progress. */
static nw_status
multilevel_begin_rounds(const struct multilevel_grid_search *first,
                        struct multilevel_grid_search *grid)
{
    *grid = *first;
    grid->budget = *first->search.placement->budget;
    grid->budget.quiet = true;
    grid->placement = *first->search.placement;
    grid->placement.budget = &grid->budget;
    grid->search.placement = &grid->placement;
    grid->search.assignment = &grid->assignment;
    grid->search.cost = INFINITY;
    return nw_assignment_copy(first->search.assignment, &grid->assignment);
}

static nw_status multilevel_run_both(struct multilevel_grid_search both[2])
{
    struct nw_budget *budget = both[0].search.placement->budget;
    uint64_t begun = budget->steps;
    struct nw_crew_task task[] = {
        {.run = multilevel_run_cuts, .user = &both[0]},
        {.run = multilevel_run_rounds, .user = &both[1]}};
    nw_status status = nw_crew_pair(task, budget->threads);

    budget->steps += both[1].budget.steps - begun;
    budget->stopped |= both[1].budget.stopped;
    budget->hurried |= both[1].budget.hurried;
    return status;
}

/* Where steps or seconds are given: they are for one after the other. */
static nw_status multilevel_run_in_turn(struct multilevel_grid_search both[2])
{
    struct nw_budget *budget = both[0].search.placement->budget;
    bool quiet = budget->quiet;
    nw_status status = multilevel_run_cuts(&both[0]);

    if (status || budget->stopped)
        return status;
    both[1].placement.budget = budget;
    budget->quiet = true;
    status = multilevel_run_rounds(&both[1]);
    budget->quiet = quiet;
    return status;
}

static nw_status multilevel_search_twice(struct multilevel_search *search,
                                         const struct nw_best_tiling *tile,
                                         bool in_turn)
{
    struct multilevel_grid_search both[2] = {{.search = *search, .tile = tile}};
    nw_status status = multilevel_begin_rounds(&both[0], &both[1]);

    if (!status)
        status =
            in_turn ? multilevel_run_in_turn(both) : multilevel_run_both(both);
    *search = both[0].search;
    if (!status)
        status = nw_assignment_take_if_better(
            search->assignment, both[1].assignment.slot, &search->cost);
    search->placement->budget->best = search->cost;
    nw_assignment_copy_fini(&both[1].assignment);
    return status;
}

/* Grids are answered in milliseconds. */
static nw_status multilevel_improve_grid(struct multilevel_search *search,
                                         const struct nw_best_tiling *tile)
{
    struct nw_budget *budget = search->placement->budget;
    bool anytime = budget->anytime;
    nw_status status;

    budget->grid_found = true;
    search->swaps_table_temperature = SWAPS_TABLE_TEMPERATURE;
    if (!multilevel_rounds_of(search, tile))
        return multilevel_cut_and_swap(search, tile);
    budget->anytime = false;
    status = multilevel_search_twice(search, tile, anytime);
    budget->anytime = anytime;
    if (status || budget->stopped || !anytime)
        return status;
    return multilevel_swap_grid(search,
                                multilevel_swaps_of(search, &tile->stencil, 0),
                                grid_swaps[0].again);
}

/* Many bisections would add nothing, and few swaps do. */
static nw_status
multilevel_leave_expander_like(struct multilevel_search *search)
{
    double rest = 1 - multilevel_anneals_of(search)->first;

    search->steps /= ANNEALED_LESS;
    search->temperature = ANNEALED_TEMPERATURE;
    search->sparing = search->assignment->count > HUBS_FEWER;
    multilevel_share_out_cycles(search);
    return rest > 0 ? multilevel_anneal_again(search, 1, rest) : NW_OK;
}

/* Beside what was annealed once. */
static nw_status multilevel_take_more(struct multilevel_search *search)
{
    const struct nw_budget *budget = search->placement->budget;

    if (budget->stopped)
        return NW_OK;
    if (search->assignment->count > ANNEALED_ALWAYS)
        return multilevel_take_bisection(search, search->seed,
                                         multilevel_repeats_of(search));
    if (budget->effort != NW_EFFORT_FAST)
        return multilevel_take_annealed_again(search);
    search->steps /= 2;
    return multilevel_take_bisection(search, search->seed,
                                     multilevel_repeats_of(search));
}

/* Sections do more in the same time. */
static bool multilevel_is_tiled_less(const struct nw_assignment *assignment)
{
    return assignment->count > TILED_ALWAYS &&
           multilevel_start_cost(assignment, multilevel_starts[0]) <=
               multilevel_straight_most(assignment);
}

/* Cuts across a grid follow the means of its steps: where edges differ from
 * those, or are missing, such cuts are no more than a start. In five dimensions
 * nearly all cells lie at borders: what fills no boxes there is searched as
 * anything else is. */
#define UNEVEN_MAX 0.03 /* bytes that deviate by a sixth of the mean */
#define FILLED_MIN 0.9

static bool multilevel_is_grid(const struct nw_best_tiling *tile)
{
    const struct nw_stencil *stencil = &tile->stencil;

    return stencil->uneven <= UNEVEN_MAX && stencil->filled >= FILLED_MIN &&
           (tile->boxed || stencil->dims <= CUT_DIMS);
}

static nw_status multilevel_improve(struct nw_assignment *assignment,
                                    const struct nw_placement *placement)
{
    struct multilevel_search search = {
        .assignment = assignment,
        .placement = placement,
        .seed = placement->options->seed,
        .steps = multilevel_steps_of(assignment, placement->budget->effort),
        .cycles = 1,
        .temperature = multilevel_temperature_of(assignment->count)};
    struct nw_best_tiling tile = {.few = multilevel_is_tiled_less(assignment),
                                  .cost = nw_assignment_cost(assignment)};
    bool expander_like = false;
    nw_status status = NW_OK;

    placement->budget->best = tile.cost;
    if (assignment->hierarchy->levels <
        2) /* all is equally far: no distance but 0 */
        return NW_OK;
    status = nw_assignment_best_tiling(assignment, &tile);
    placement->budget->best = search.cost = tile.cost;
    if (!status && tile.found && multilevel_is_grid(&tile))
        return multilevel_improve_grid(&search, &tile);
    search.swaps_table_temperature = SWAPS_TABLE_TEMPERATURE;
    if (!status && tile.found && !placement->budget->stopped)
        status = multilevel_anneal_grid(&search, &tile.stencil);
    if (!status)
        status = multilevel_has_two_starts(&search)
                     ? multilevel_take_two(&search, &expander_like)
                     : multilevel_take_annealed(&search, &expander_like);
    if (!status)
        status = expander_like ? multilevel_leave_expander_like(&search)
                               : multilevel_take_more(&search);
    return status || placement->budget->stopped ? status
                                                : multilevel_search_on(&search);
}

/* Limits leave a beginning far from the best: that is left hot. */
static nw_status multilevel_refine(struct nw_assignment *assignment,
                                   const struct nw_placement *placement)
{
    struct multilevel_search search = {
        .assignment = assignment,
        .placement = placement,
        .seed = placement->options->seed,
        .steps = multilevel_steps_of(assignment, placement->budget->effort),
        .cycles = 1,
        .temperature = assignment->load
                           ? multilevel_temperature_of(assignment->count)
                           : STENCIL_TEMPERATURE};

    return multilevel_search_on(&search);
}

static nw_status multilevel_tile(struct nw_assignment *assignment,
                                 const struct nw_placement *placement)
{
    struct nw_best_tiling try = {.cost = nw_assignment_cost(assignment)};
    nw_status status = nw_assignment_best_tiling(assignment, &try);

    (void)placement;
    if (!status && !try.found)
        return nw_fail(NW_EUNSUPPORTED,
                       "tile needs a pattern that is a stencil on a grid, and "
                       "nothing fixed");
    return status;
}

/* So many edges, of all bisections together, cost a program that waits less
 * than its messages do. */
#define ANYTIME_EDGES 800
#define ANYTIME_BISECTIONS 4
#define ANYTIME_EDGES_OF_GRIDS 8000

static nw_status multilevel_bisect_waiting(struct multilevel_search *search,
                                           uint64_t seed)
{
    const struct nw_assignment *assignment = search->assignment;
    size_t edges = assignment->row[assignment->count] + 1;
    nw_status status = NW_OK;

    if (edges > ANYTIME_EDGES)
        return multilevel_take_bisection(search, seed, 0);
    for (size_t i = 0; !status && i < ANYTIME_BISECTIONS; i++)
        if ((i + 1) * edges <= ANYTIME_EDGES)
            status = multilevel_take_bisection(search, seed + i, 1);
    return status;
}

/* No swaps: for programs that wait. */
static nw_status multilevel_bisect(struct nw_assignment *assignment,
                                   const struct nw_placement *placement)
{
    struct multilevel_search search = {.assignment = assignment,
                                       .placement = placement};
    struct nw_best_tiling tile = {.once = true,
                                  .cost = nw_assignment_cost(assignment)};
    nw_status status = nw_assignment_best_tiling(assignment, &tile);

    search.cost = tile.cost;
    if (status || (tile.found &&
                   assignment->row[assignment->count] > ANYTIME_EDGES_OF_GRIDS))
        return status;
    return multilevel_bisect_waiting(&search, placement->options->seed);
}

/* --- the placers --- */

typedef nw_status improver(struct nw_assignment *assignment,
                           const struct nw_placement *placement);

static nw_status multilevel_place_on_hierarchy(struct nw_placement *placement,
                                               improver *run)
{
    struct nw_assignment assignment = {0};
    struct nw_hierarchy hierarchy;
    bool is_hierarchy;
    nw_status status = nw_placement_initial(placement);

    if (!status)
        status = nw_hierarchy_init(&hierarchy, placement, &is_hierarchy);
    if (status)
        return status;
    if (!is_hierarchy)
        return nw_fail(NW_EUNSUPPORTED,
                       "this search needs a machine like a tree");
    placement->budget->approximate |= !hierarchy.exact;
    status = nw_assignment_init(&assignment, &hierarchy, placement);
    if (!status)
        status = run(&assignment, placement);
    if (!status)
        nw_assignment_store(&assignment, placement);
    nw_assignment_fini(&assignment);
    nw_hierarchy_fini(&hierarchy);
    return status;
}

nw_status nw_place_multilevel(struct nw_placement *placement)
{
    return multilevel_place_on_hierarchy(placement, multilevel_improve);
}

nw_status nw_place_section(struct nw_placement *placement)
{
    return multilevel_place_on_hierarchy(placement, multilevel_bisect);
}

nw_status nw_place_tile(struct nw_placement *placement)
{
    return multilevel_place_on_hierarchy(placement, multilevel_tile);
}

nw_status nw_place_refine(struct nw_placement *placement)
{
    return multilevel_place_on_hierarchy(placement, multilevel_refine);
}

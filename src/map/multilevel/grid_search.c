/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for grids: power diagrams, recursive bisections with several kinds
 * of initial cuts, and a few swaps. With few processes, a second search starts
 * from power diagrams only. */
#include "map/multilevel/multilevel_internal.h"
#include "map/common/parameters.h"

#include <math.h>

/* Returns the bytes that cross a diagonal border between the first two
 * dimensions, as a multiple of the bytes across a straight border of the same
 * area. */
static double multilevel_across_askew(const struct nw_stencil *stencil)
{
    double first = fmax(nw_stencil_across(stencil, 0), 1);
    double second = fmax(nw_stencil_across(stencil, 1), 1), sum = 0;

    for (int i = 0; i < stencil->offsets; i++)
        sum += stencil->bytes[i] * fabs(stencil->offset[i][0] / first +
                                        stencil->offset[i][1] / second);
    return sum * sqrt(0.5);
}

/* Returns true if power diagrams are worth while: the grid has several
 * dimensions and does not fill boxes, all slots have a process, and there are
 * not too many processes. A larger grid also needs diagonal borders that cut
 * few bytes. */
static bool
multilevel_may_use_power_diagram(const struct multilevel_search *search)
{
    const struct nw_assignment *assignment = search->assignment;

    return !search->tile->boxed && search->tile->stencil.dims > 1 &&
           (assignment->count <= nw_tuned.multilevel_grid.power_diagram_max ||
            (assignment->count <=
                 nw_tuned.multilevel_grid.power_diagram_max_askew &&
             multilevel_across_askew(&search->tile->stencil) <
                 nw_tuned.multilevel_grid.power_diagram_askew)) &&
           assignment->hierarchy->slots == assignment->count &&
           !search->budget->stopped;
}

/* Runs a recursive bisection that divides pieces by power diagrams and anneals
 * them, and keeps its result if it costs less than search->assignment. `kinds`:
 * initial cuts (enum nw_rb_start) of its bisections. `number`: varies the seed.
 */
static nw_status
multilevel_power_diagram_parts(struct multilevel_search *search,
                               uint64_t number, int kinds)
{
    const struct nw_assignment *assignment = search->assignment;
    double cost = (double)assignment->row[assignment->count] +
                  nw_tuned.pairwise.cost_each * (double)assignment->count;
    double tries = nw_tuned.multilevel_grid.anneal_cost *
                   (double)nw_multilevel_grid_patience(search) / cost;
    struct nw_recursive_bisection bisect = {
        .seed = search->seed + number,
        .stencil = &search->tile->stencil,
        .kinds = kinds,
        .rounded = true,
        .anneal =
            (uint64_t)(tries / fmax(1, assignment->hierarchy->levels - 2))};

    return nw_multilevel_take(search, &bisect);
}

/* Computes an assignment by power diagrams, if these are worth while, and
 * others by bisections; keeps the best. Leaves out the bisections if they would
 * take too long or if the power diagrams have lowered the cost enough. */
static nw_status
multilevel_power_diagram_or_bisect(struct multilevel_search *search,
                                   bool swapped)
{
    double begun = search->cost;
    nw_status status;

    if (!multilevel_may_use_power_diagram(search))
        return nw_multilevel_cuts_max(search, swapped);
    status = multilevel_power_diagram_parts(search, 0, NW_RB_START_STRAIGHT);
    if (status || nw_multilevel_is_costly(search) ||
        (search->assignment->count >
             nw_tuned.multilevel_grid.power_diagram_max &&
         search->cost <= nw_tuned.multilevel_grid.power_diagram_enough * begun))
        return status;
    return nw_multilevel_cuts_max(search, swapped);
}

/* Runs swap annealing with at most `steps` swaps per cycle, from the given
 * initial temperature. */
static nw_status multilevel_swap_grid(struct multilevel_search *search,
                                      uint64_t steps, double temperature)
{
    search->temperature = temperature;
    search->seed += 1000;
    if (search->steps > steps)
        search->steps = steps;
    return nw_multilevel_search_on(search);
}

/* Returns the number of swaps to try for this grid. These swaps take about as
 * long as reading and bisecting the grid. Small grids get fewer swaps, but are
 * annealed twice. Patterns with many edges per process get fewer swaps, because
 * each of them takes longer. */
static uint64_t multilevel_swaps_of(const struct multilevel_search *search)
{
    uint64_t most = nw_tuned.multilevel_grid.swaps;
    uint64_t count = (uint64_t)search->assignment->count;
    uint64_t edges = search->assignment->row[count];

    if (search->assignment->count > nw_tuned.multilevel_grid.power_diagram_max)
        most = nw_tuned.multilevel_grid.swaps_large;
    else if (search->assignment->count <= 2 * nw_tuned.multilevel.few)
        most = nw_tuned.multilevel_grid.swaps_annealed;
    if (most * edges / count > nw_tuned.multilevel_grid.swapped_edges)
        most = nw_tuned.multilevel_grid.swapped_edges * count / edges;
    if (nw_multilevel_is_denser(search))
        most /= (uint64_t)nw_tuned.multilevel_grid.denser;
    return most * nw_multilevel_grid_patience(search);
}

/* Returns the initial temperature of a second swap annealing; 0 if there is
 * only one annealing. */
static double multilevel_reheat(const struct multilevel_search *search)
{
    uint64_t count = (uint64_t)search->assignment->count;
    uint64_t edges = search->assignment->row[count];

    if (search->assignment->count > 2 * nw_tuned.multilevel.few ||
        (nw_multilevel_grid_patience(search) == 1 &&
         nw_tuned.multilevel_grid.swaps_annealed * edges >
             nw_tuned.multilevel_grid.swapped_again_edges * count))
        return 0;
    return nw_tuned.multilevel_grid.swaps_annealed_again;
}

/* Finds the best assignment by power diagrams and bisections. Then improves it
 * by swaps, unless so few swaps per process are possible that they gain
 * nothing. */
static nw_status multilevel_cut_and_swap(struct multilevel_search *search)
{
    struct nw_budget *budget = search->budget;
    int32_t count = search->assignment->count;
    uint64_t worth = (uint64_t)count * nw_tuned.multilevel_grid.swaps_each_min,
             most;
    bool swapped, former;
    double again;
    nw_status status;

    most = multilevel_swaps_of(search);
    swapped = budget->anytime || worth <= most;
    status = multilevel_power_diagram_or_bisect(search, swapped);
    if (status || budget->stopped || !swapped)
        return status;
    again = multilevel_reheat(search);
    if (again <= 0)
        return multilevel_swap_grid(search, most,
                                    nw_tuned.multilevel.grid_temperature);
    former = nw_budget_begin_starts(budget);
    status = multilevel_swap_grid(search, most,
                                  nw_tuned.multilevel.grid_temperature);
    nw_budget_end_starts(budget, former);
    return status || budget->stopped
               ? status
               : multilevel_swap_grid(search, most, again);
}

/* Returns how many power diagrams the second search computes; 0 if the grid is
 * searched only once. Small grids get more, because the diagrams differ in
 * quality. */
static int multilevel_rounds_of(const struct multilevel_search *search)
{
    int32_t count = search->assignment->count;

    if (!nw_multilevel_is_searched_twice(search))
        return 0;
    return 1 + (2 * count <= nw_tuned.multilevel.few) +
           (count <= nw_tuned.multilevel.few);
}

/* Runs the first search: power diagrams, bisections and swaps. A function
 * nw_start.run. */
static nw_status multilevel_run_cuts(void *user, struct nw_budget *budget)
{
    struct multilevel_search *search = user;

    search->budget = budget;
    return multilevel_cut_and_swap(search);
}

/* Runs the second search: the best of several power diagrams, then swaps. A
 * function nw_start.run. */
static nw_status multilevel_run_rounds(void *user, struct nw_budget *budget)
{
    struct multilevel_search *search = user;
    int rounds = multilevel_rounds_of(search);
    uint64_t most;
    nw_status status = NW_OK;

    search->budget = budget;
    for (int i = 0; !status && !budget->stopped && i < rounds; i++) {
        bool straight = i % 2 || rounds == 1;

        status = multilevel_power_diagram_parts(
            search, (uint64_t)i + 1,
            nw_multilevel_filling(search->assignment, i) |
                (straight ? NW_RB_START_STRAIGHT : NW_RB_START_STRIPES));
    }
    if (status || budget->stopped)
        return status;
    most = multilevel_swaps_of(search);
    return multilevel_swap_grid(
        search, nw_multilevel_is_costly(search) ? most / 2 : most,
        nw_tuned.multilevel.grid_temperature);
}

/* Runs both searches and takes the better result. */
static nw_status multilevel_search_twice(struct multilevel_search *search)
{
    struct multilevel_search both[2] = {*search, *search};
    struct nw_start start[2] = {
        {multilevel_run_cuts, &both[0]},
        {multilevel_run_rounds, &both[1], .quiet = true}};
    struct nw_assignment second = {0}; /* both may run at the same time */
    nw_status status = nw_assignment_copy(search->assignment, &second);

    both[1].assignment = &second;
    both[1].cost = INFINITY;
    if (!status)
        status = nw_budget_run_starts(search->budget, start, NULL);
    *search = both[0];
    if (!status)
        status = nw_assignment_take_if_better(search->assignment, second.slot,
                                              &search->cost);
    nw_assignment_copy_fini(&second);
    return status;
}

nw_status nw_multilevel_improve_grid(struct multilevel_search *search)
{
    const struct nw_budget *budget = search->budget;
    nw_status status;

    if (!multilevel_rounds_of(search))
        return multilevel_cut_and_swap(search);
    status = multilevel_search_twice(search);
    if (status || budget->stopped || !budget->anytime)
        return status;
    return multilevel_swap_grid(search, multilevel_swaps_of(search),
                                nw_tuned.multilevel_grid.swaps_annealed_again);
}

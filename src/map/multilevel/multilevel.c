/* SPDX-License-Identifier: BSD-3-Clause */
/* The search that lowers hop-bytes on a tree: finds initial assignments, then
 * improves the best one by swaps of subtrees, from the largest to the smallest,
 * and swaps of processes. */
#include "map/multilevel/multilevel_internal.h"
#include "map/common/parameters.h"
#include "base/status.h"

/* Returns true if the pattern is to be searched as a grid. Cuts across a grid
 * assume that all edges along one offset between cells have the mean bytes of
 * that offset, so few edges may differ from the mean or be missing. In five
 * dimensions nearly all cells are at borders, so there the grid must be filled
 * by boxes. */
static bool multilevel_is_grid(const struct nw_best_embedding *tile)
{
    const struct nw_stencil *stencil = &tile->stencil;

    return stencil->uneven <= nw_tuned.multilevel.grid_uneven_max &&
           stencil->filled >= nw_tuned.multilevel.grid_filled_min &&
           (tile->boxed || stencil->dims <= nw_tuned.multilevel.grid_dims_max);
}

/* Returns the state of a search that begins with `assignment`. */
static struct multilevel_search
multilevel_search_of(struct nw_assignment *assignment,
                     const struct nw_placement *placement)
{
    return (struct multilevel_search){
        .assignment = assignment,
        .budget = placement->budget,
        .seed = placement->options->seed,
        .steps = nw_multilevel_steps_of(assignment, placement->budget->effort),
        .cycles = 1,
        .temperature = nw_multilevel_temperature_of(assignment->count)};
}

/* The search of nw_place_multilevel: finds initial assignments and improves the
 * best one. */
static nw_status multilevel_improve(struct nw_assignment *assignment,
                                    struct nw_placement *placement)
{
    struct multilevel_search search =
        multilevel_search_of(assignment, placement);
    struct nw_best_embedding tile = {
        .few = nw_multilevel_is_tiled_less(assignment),
        .cost = nw_assignment_cost(assignment)};
    bool expander_like = false;
    nw_status status = NW_OK;

    if (assignment->hierarchy->levels <
        2) /* all slots are at distance 0 from each other */
        return NW_OK;
    status = nw_assignment_best_embedding(assignment, &tile);
    search.cost = tile.cost;
    search.swaps_table_temperature =
        nw_tuned.multilevel.swaps_table_temperature;
    placement->grid_found = !status && tile.found && multilevel_is_grid(&tile);
    if (placement->grid_found) {
        search.tile = &tile;
        return nw_multilevel_improve_grid(&search);
    }
    if (!status)
        status = nw_multilevel_has_two_starts(&search)
                     ? nw_multilevel_take_two(&search, &expander_like)
                     : nw_multilevel_take_annealed(&search, &expander_like);
    if (!status)
        status = expander_like ? nw_multilevel_leave_expander_like(&search)
                               : nw_multilevel_take_more(&search);
    return status || search.budget->stopped ? status
                                            : nw_multilevel_search_on(&search);
}

/* Improves a given placement by swaps. If loads are limited, annealing starts
 * at a high temperature, because the given placement is then far from the
 * optimum. */
static nw_status multilevel_refine(struct nw_assignment *assignment,
                                   struct nw_placement *placement)
{
    struct multilevel_search search =
        multilevel_search_of(assignment, placement);

    if (!assignment->load)
        search.temperature = nw_tuned.multilevel.grid_temperature;
    return nw_multilevel_search_on(&search);
}

/* Keeps the best embedding of a grid, without swaps afterwards. Returns
 * NW_EUNSUPPORTED if the pattern is not a grid or ranks are fixed. */
static nw_status multilevel_tile(struct nw_assignment *assignment,
                                 struct nw_placement *placement)
{
    struct nw_best_embedding try = {.cost = nw_assignment_cost(assignment)};
    nw_status status = nw_assignment_best_embedding(assignment, &try);

    (void)placement;
    if (!status && !try.found)
        return nw_fail(
            NW_EUNSUPPORTED,
            "tile needs a stencil pattern on a grid and no fixed ranks");
    return status;
}

/* Runs one quick recursive bisection. If the pattern has few edges, runs one or
 * several thorough ones and keeps the best: a waiting program then saves more
 * time in its messages than they take. */
static nw_status multilevel_bisect_waiting(struct multilevel_search *search,
                                           uint64_t seed)
{
    const struct nw_assignment *assignment = search->assignment;
    size_t edges = assignment->row[assignment->count] + 1;
    nw_status status = NW_OK;

    if (edges > nw_tuned.multilevel.quick_edges)
        return nw_multilevel_take_bisection(search, seed, 0);
    for (size_t i = 0; !status && i < nw_tuned.multilevel.quick_bisections; i++)
        if ((i + 1) * edges <= nw_tuned.multilevel.quick_edges)
            status = nw_multilevel_take_bisection(search, seed + i, 1);
    return status;
}

/* Tries one embedding if the pattern is a grid, then runs recursive bisections
 * without swaps, for a program that waits for the result, as in MPI_Init. A
 * large grid gets only the embedding. */
static nw_status multilevel_bisect(struct nw_assignment *assignment,
                                   struct nw_placement *placement)
{
    struct multilevel_search search = {.assignment = assignment,
                                       .budget = placement->budget};
    struct nw_best_embedding tile = {.once = true,
                                     .cost = nw_assignment_cost(assignment)};
    nw_status status = nw_assignment_best_embedding(assignment, &tile);

    search.cost = tile.cost;
    if (status || (tile.found && assignment->row[assignment->count] >
                                     nw_tuned.multilevel.quick_grid_edges))
        return status;
    return multilevel_bisect_waiting(&search, placement->options->seed);
}

/* --- the placers --- */

typedef nw_status improver(struct nw_assignment *assignment,
                           struct nw_placement *placement);

/* Makes the hierarchy and the assignment of a placement, runs a search on that
 * assignment and stores the result in the placement. Returns NW_EUNSUPPORTED if
 * the hierarchy would have too many levels. */
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
        return nw_fail(
            NW_EUNSUPPORTED,
            "this algorithm needs a machine that is a tree of levels");
    placement->approximate = !hierarchy.exact;
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

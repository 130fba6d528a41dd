/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the search for few hop-bytes on a tree. */
#ifndef NW_MAP_MULTILEVEL_MULTILEVEL_INTERNAL_H
#define NW_MAP_MULTILEVEL_MULTILEVEL_INTERNAL_H

#include "map/multilevel/recursive_bisection.h"
#include "map/common/parameters.h"

/* State of a sequence of searches, each of which starts from the result of the
 * last. */
struct multilevel_search {
    struct nw_assignment *assignment; /* best assignment so far */
    const struct nw_placement *placement;
    double cost;          /* cost of `assignment` */
    uint64_t seed, steps; /* seed; trials of one cycle of swap annealing */
    int cycles;           /* number of cycles, set by the effort */
    double temperature;   /* initial temperature of swap annealing */
    bool sparing;         /* try vertices of high degree less often,
                             in patterns with hubs */
    double swaps_table_temperature; /* initial temperature with the delta table
                                       if it fits; 0: without the table */
};

#define FILLINGS 2 /* most entries of nw_multilevel_list_fillings */

/* swap_cycles.c */

/* Returns the temperature of the first round for an assignment of `count`
 * processes. */
double nw_multilevel_temperature_of(int32_t count);

/* Returns the mean number of edges per process. */
double nw_multilevel_degree_of(const struct nw_assignment *assignment);

/* Returns the number of swaps that one search tries. */
uint64_t nw_multilevel_steps_of(const struct nw_assignment *assignment,
                                enum nw_effort effort);

/* Runs the cycles of swap annealing: a number set by the effort; with --time or
 * --steps, longer and longer cycles until the limit. */
NW_MUST_CHECK nw_status
nw_multilevel_search_on(struct multilevel_search *search);

/* graph_search.c */

/* Returns true if the pattern gets two annealed starts: it has neither few nor
 * very many processes, and the effort is not "fast". */
bool nw_multilevel_has_two_starts(const struct multilevel_search *search);

/* Takes the better of two annealed starts; the second start counts only if the
 * pattern has small separators. Sets *expander_like if it has none. */
NW_MUST_CHECK nw_status nw_multilevel_take_two(struct multilevel_search *search,
                                               bool *expander_like);

/* Takes one annealed start. Sets *expander_like if the pattern has no small
 * separators. Does nothing for a large pattern with small separators. */
NW_MUST_CHECK nw_status nw_multilevel_take_annealed(
    struct multilevel_search *search, bool *expander_like);

/* Runs the bisection, whose assignment, budget and threads this function sets,
 * and takes the resulting slots if they cost less. */
NW_MUST_CHECK nw_status nw_multilevel_take(
    struct multilevel_search *search, struct nw_recursive_bisection *bisect);

/* Takes the result of a recursive bisection without annealing if it costs less.
 * `repeats` 0 means one quick bisection. */
NW_MUST_CHECK nw_status nw_multilevel_take_bisection(
    struct multilevel_search *search, uint64_t seed, int repeats);

/* Prepares swap annealing of an expander-like pattern, with fewer steps and a
 * lower temperature, because further bisections gain nothing. A pattern of few
 * processes is annealed once more first. */
NW_MUST_CHECK nw_status
nw_multilevel_leave_expander_like(struct multilevel_search *search);

/* Takes further starts after the first annealed one, unless the budget stopped.
 */
NW_MUST_CHECK nw_status
nw_multilevel_take_more(struct multilevel_search *search);

/* grid_starts.c */

/* Returns the factor by which the effort multiplies the work on a grid. */
uint64_t nw_multilevel_grid_patience(const struct multilevel_search *search);

/* Returns true if the first kind of start of a small grid costs more than the
 * limit for all starts, but at most nw_tuned.multilevel_grid.denser times that
 * limit: such a start gains more than swaps in the same time. */
bool nw_multilevel_is_denser(const struct multilevel_search *search,
                             const struct nw_stencil *stencil);

/* Returns true if a second search from power diagrams is run: for small grids
 * of several dimensions, unless the effort is "fast". */
bool nw_multilevel_is_searched_twice(const struct multilevel_search *search,
                                     const struct nw_stencil *stencil);

/* Returns true if one start of a small grid costs more than the limit for all
 * starts, because the grid has many edges. Power diagrams then replace the
 * starts by bisection. */
bool nw_multilevel_is_costly(const struct multilevel_search *search,
                             const struct nw_stencil *stencil);

/* Lists the different orders of filling the machine, as bits of enum
 * nw_rb_start, in list[FILLINGS]; returns their number. */
int nw_multilevel_list_fillings(const struct nw_assignment *assignment,
                                int *list);

/* Takes the best of as many bisections as the cost limit allows. A large grid
 * that fills boxes or has two dimensions gets few kinds of bisection.
 * `swapped`: keeps part of the limit for swaps. */
NW_MUST_CHECK nw_status
nw_multilevel_cuts_max(struct multilevel_search *search,
                       const struct nw_best_tiling *tile, bool swapped);

/* Returns true if a large grid is tiled with few kinds of cuts, because
 * bisections gain more in the same time. */
bool nw_multilevel_is_tiled_less(const struct nw_assignment *assignment);

/* grid_search.c */

/* Runs the search for a pattern that is a grid. */
NW_MUST_CHECK nw_status nw_multilevel_improve_grid(
    struct multilevel_search *search, const struct nw_best_tiling *tile);

#endif

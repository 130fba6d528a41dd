/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the search for few hop-bytes on a tree. */
#ifndef NW_MAP_MULTILEVEL_MULTILEVEL_INTERNAL_H
#define NW_MAP_MULTILEVEL_MULTILEVEL_INTERNAL_H

#include "map/multilevel/recursive_bisection.h"
#include "map/common/parameters.h"

/* Initial temperature of table-based swap annealing after k-way annealing. */

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

#define FILLINGS 2

/* swap_cycles.c */

/* Temperature of the first round, by how many processes share the steps. */
double nw_multilevel_temperature_of(int32_t count);

double nw_multilevel_degree_of(const struct nw_assignment *assignment);

uint64_t nw_multilevel_steps_of(const struct nw_assignment *assignment,
                                enum nw_effort effort);

/* Some cycles by effort; with a time or steps given longer and longer ones. */
NW_MUST_CHECK nw_status
nw_multilevel_search_on(struct multilevel_search *search);

/* graph_search.c */

bool nw_multilevel_has_two_starts(const struct multilevel_search *search);

/* Takes the better of two annealed starts. The second one counts only if the
 * pattern has small separators. */
NW_MUST_CHECK nw_status nw_multilevel_take_two(struct multilevel_search *search,
                                               bool *expander_like);

/* Takes one annealed start. *expander_like: the pattern has no small
 * separators. A large pattern that has some is left as it is. */
NW_MUST_CHECK nw_status nw_multilevel_take_annealed(
    struct multilevel_search *search, bool *expander_like);

/* Runs the bisection and takes its slots if they cost less. Sets its
 * assignment, budget and threads. */
NW_MUST_CHECK nw_status nw_multilevel_take(
    struct multilevel_search *search, struct nw_recursive_bisection *bisect);

/* Takes a recursive bisection without annealing if it costs less. With 0
 * repeats, it is one quick bisection. */
NW_MUST_CHECK nw_status nw_multilevel_take_bisection(
    struct multilevel_search *search, uint64_t seed, int repeats);

/* Prepares the swaps of an expander-like pattern, with fewer steps and colder:
 * further bisections gain nothing. A pattern of few processes is annealed once
 * more first. */
NW_MUST_CHECK nw_status
nw_multilevel_leave_expander_like(struct multilevel_search *search);

/* Takes further starts after the first annealed one, unless the budget stopped.
 */
NW_MUST_CHECK nw_status
nw_multilevel_take_more(struct multilevel_search *search);

/* grid_starts.c */

uint64_t nw_multilevel_grid_patience(const struct multilevel_search *search);

/* Whether the first kind of start of a small grid costs more than the limit for
 * all starts, but no more than GRID_BISECTION_DENSER times it: such a start is
 * worth more than swaps in the same time. */
bool nw_multilevel_is_denser(const struct multilevel_search *search,
                             const struct nw_stencil *stencil);

bool nw_multilevel_is_searched_twice(const struct multilevel_search *search,
                                     const struct nw_stencil *stencil);

/* Whether a small grid has so many edges that one start costs more than the
 * limit for all starts. Then power diagrams replace the starts by bisection. */
bool nw_multilevel_is_costly(const struct multilevel_search *search,
                             const struct nw_stencil *stencil);

/* Lists the ways to fill the machine that differ, as bits of nw_rb_start, in
 * list[FILLINGS]; returns their number. */
int nw_multilevel_list_fillings(const struct nw_assignment *assignment,
                                int *list);

/* Takes the best of the bisections that the limit of cost allows. A large grid
 * that fills boxes or has two dimensions is bisected in few ways. `swapped`:
 * leaves cost for swaps. */
NW_MUST_CHECK nw_status
nw_multilevel_cuts_max(struct multilevel_search *search,
                       const struct nw_best_tiling *tile, bool swapped);

/* Whether a large grid is tiled in few ways: bisections gain more in the same
 * time. */
bool nw_multilevel_is_tiled_less(const struct nw_assignment *assignment);

/* grid_search.c */

/* The search for a pattern that is a grid. */
NW_MUST_CHECK nw_status nw_multilevel_improve_grid(
    struct multilevel_search *search, const struct nw_best_tiling *tile);

#endif

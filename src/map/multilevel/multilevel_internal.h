/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the search for few hop-bytes on a tree. A start is an
 * initial assignment of processes to slots, made by recursive bisection or as
 * an embedding of a grid. A pattern is expander-like if no small separator
 * divides its graph. */
#ifndef NW_MAP_MULTILEVEL_MULTILEVEL_INTERNAL_H
#define NW_MAP_MULTILEVEL_MULTILEVEL_INTERNAL_H

#include "map/multilevel/recursive_bisection.h"
#include "map/common/parameters.h"

/* State of a sequence of searches. Each of them begins with the result of the
 * one before. */
struct multilevel_search {
    struct nw_assignment *assignment; /* best assignment so far */
    struct nw_budget *budget;
    const struct nw_best_embedding *tile; /* its grid; NULL if the pattern is
                                             not searched as a grid */
    double cost;                          /* hop-bytes of `assignment` */
    uint64_t seed, steps; /* seed: of random numbers; steps: swaps of processes
                             to try in one cycle of swap annealing (swaps of
                             subtrees come on top) */
    int cycles;           /* number of cycles of swap annealing: 1, or more for
                             few processes unless the effort is "fast" */
    double temperature;   /* initial temperature of swap annealing, in units of
                             the mean bytes of an edge times the second smallest
                             distance of the tree */
    bool sparing;         /* try processes with many edges less often, in
                             patterns with hubs */
    double swaps_table_temperature; /* initial temperature of annealing by
                                       nw_anneal_swaps_table, used if the table
                                       fits; 0: no table is used */
};

/* --- functions of swap_cycles.c --- */

/* Returns the initial temperature of swap annealing for an assignment of
 * `count` processes. */
double nw_multilevel_temperature_of(int32_t count);

/* Returns the mean number of edges per process. */
double nw_multilevel_degree_of(const struct nw_assignment *assignment);

/* Returns the number of swaps tried in one cycle of swap annealing. */
uint64_t nw_multilevel_steps_of(const struct nw_assignment *assignment,
                                enum nw_effort effort);

/* Runs cycles of swap annealing on search->assignment: search->cycles of them,
 * or with --time or --steps longer and longer cycles until the limit. */
NW_MUST_CHECK nw_status
nw_multilevel_search_on(struct multilevel_search *search);

/* --- functions of graph_search.c --- */

/* Returns true if the pattern gets two annealed starts: it has a middle number
 * of processes, between two tuned limits, and the effort is not "fast". */
bool nw_multilevel_has_two_starts(const struct multilevel_search *search);

/* Makes two annealed starts and keeps the better one if it costs less than
 * search->assignment. The second start counts only if the pattern has small
 * separators. Sets *expander_like to true if it has none. */
NW_MUST_CHECK nw_status nw_multilevel_take_two(struct multilevel_search *search,
                                               bool *expander_like);

/* Makes one annealed start and keeps it if it costs less than
 * search->assignment. Sets *expander_like to true if the pattern has no small
 * separators. From nw_tuned.multilevel.many processes on, the start is
 * made and kept only if the pattern is expander-like. */
NW_MUST_CHECK nw_status nw_multilevel_take_annealed(
    struct multilevel_search *search, bool *expander_like);

/* Runs a recursive bisection and keeps its slots if they cost less than
 * search->assignment. The caller sets the parameters in *bisect; this function
 * adds the assignment, the budget and the number of threads. Keeps nothing if
 * the caller wants no result for such a pattern (bisect->only_expander_like).
 */
NW_MUST_CHECK nw_status nw_multilevel_take(
    struct multilevel_search *search, struct nw_recursive_bisection *bisect);

/* Runs a recursive bisection without annealing and keeps its slots if they cost
 * less than search->assignment. `repeats`: bisections of each piece, of which
 * the best is taken; 0: one quick bisection. */
NW_MUST_CHECK nw_status nw_multilevel_take_bisection(
    struct multilevel_search *search, uint64_t seed, int repeats);

/* Prepares swap annealing of an expander-like pattern, for which further
 * bisections gain nothing: with fewer swaps and a lower temperature. If there
 * are few processes, makes another annealed start first. */
NW_MUST_CHECK nw_status
nw_multilevel_leave_expander_like(struct multilevel_search *search);

/* Makes further starts after the first annealed one, and sets the number and
 * temperature of the swaps that follow. Does nothing if the budget has ended.
 */
NW_MUST_CHECK nw_status
nw_multilevel_take_more(struct multilevel_search *search);

/* --- functions of grid_starts.c --- */

/* Returns the factor by which the effort ("fast", ...) multiplies the work on a
 * grid. */
uint64_t nw_multilevel_grid_patience(const struct multilevel_search *search);

/* Returns true if a small grid is denser than usual. The first start in
 * grid_starts is then estimated to cost more time than all starts together may,
 * but at most nw_tuned.multilevel_grid.denser times as much. Such a start still
 * gains more than swaps in the same time. */
bool nw_multilevel_is_denser(const struct multilevel_search *search);

/* Returns true if power diagrams are searched in addition to bisections, as a
 * second search: for small grids of several dimensions, unless the effort is
 * "fast". */
bool nw_multilevel_is_searched_twice(const struct multilevel_search *search);

/* Returns true if the first start in grid_starts, for a small grid, is
 * estimated to cost more time than all starts together may, because the grid
 * has many edges. Power diagrams then replace the starts by bisection. */
bool nw_multilevel_is_costly(const struct multilevel_search *search);

/* Returns order `i` in which bisection may fill the machine: 0 (processes
 * spread evenly over all clusters) or, for even numbers `i` if there are more
 * slots than processes, NW_RB_START_PACKED. */
int nw_multilevel_filling(const struct nw_assignment *assignment, int i);

/* Makes as many starts of a grid by bisection as their limit of estimated time
 * allows, and keeps the best. A large grid of three or more dimensions that
 * does not fill boxes gets only cheap kinds of bisection, or none if its cost
 * is near the lower bound. A costly small grid (nw_multilevel_is_costly) gets
 * none either. `swapped`: part of the limit is reserved for swaps. */
NW_MUST_CHECK nw_status nw_multilevel_cuts_max(struct multilevel_search *search,
                                               bool swapped);

/* Returns true if a large grid is tiled with few kinds of cuts, because
 * recursive bisections gain more in the same time. */
bool nw_multilevel_is_tiled_less(const struct nw_assignment *assignment);

/* --- functions of grid_search.c --- */

/* Runs the search for a pattern that is a grid. */
NW_MUST_CHECK nw_status
nw_multilevel_improve_grid(struct multilevel_search *search);

#endif

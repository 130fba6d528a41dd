/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the search for few hop-bytes on a tree. */
#ifndef NW_MAP_MULTILEVEL_MULTILEVEL_INTERNAL_H
#define NW_MAP_MULTILEVEL_MULTILEVEL_INTERNAL_H

#include "map/multilevel/recursive_bisection.h"

/* Initial temperature of table-based swap annealing after k-way annealing. */
#define SWAPS_TABLE_TEMPERATURE 0.35

#define STENCIL_TEMPERATURE 0.5

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

#define FILLINGS 3

#define GRID_FEW 2048 /* processes of a grid that are annealed */

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

/* Two starts, of which the second is for patterns with a shape. */
NW_MUST_CHECK nw_status nw_multilevel_take_two(struct multilevel_search *search,
                                               bool *expander_like);

/* *expander-like: the pattern has no shape that cuts could follow; large ones
 * with a shape are left alone. */
NW_MUST_CHECK nw_status nw_multilevel_take_annealed(
    struct multilevel_search *search, bool *expander_like);

/* The slots of a bisection where they are better. */
NW_MUST_CHECK nw_status nw_multilevel_take(
    struct multilevel_search *search, struct nw_recursive_bisection *bisect);

/* Once and in haste with 0 repeats. */
NW_MUST_CHECK nw_status nw_multilevel_take_bisection(
    struct multilevel_search *search, uint64_t seed, int repeats);

/* Many bisections would add nothing, and few swaps do. */
NW_MUST_CHECK nw_status
nw_multilevel_leave_expander_like(struct multilevel_search *search);

/* Beside what was annealed once. */
NW_MUST_CHECK nw_status
nw_multilevel_take_more(struct multilevel_search *search);

/* grid_starts.c */

uint64_t nw_multilevel_grid_patience(const struct multilevel_search *search);

/* Even the first kind costs more than all may, if a swap gains little: it is
 * worth more than swaps of the same time. */
bool nw_multilevel_is_denser(const struct multilevel_search *search,
                             const struct nw_stencil *stencil);

bool nw_multilevel_is_searched_twice(const struct multilevel_search *search,
                                     const struct nw_stencil *stencil);

/* Few ranks with so many peers that one start with its swaps takes as long as
 * all other starts: power diagrams come first. */
bool nw_multilevel_is_costly(const struct multilevel_search *search,
                             const struct nw_stencil *stencil);

/* Ways to fill a machine that differ. */
int nw_multilevel_list_fillings(const struct nw_assignment *assignment,
                                int *list);

/* Cells that fill boxes, or lie in a plane, leave nothing to bisections of
 * large grids; round parts leave little to those of small dense ones. */
NW_MUST_CHECK nw_status
nw_multilevel_cuts_max(struct multilevel_search *search,
                       const struct nw_best_tiling *tile, bool swapped);

/* Whether a large grid is tiled in few ways: bisections gain more in the same
 * time. */
bool nw_multilevel_is_tiled_less(const struct nw_assignment *assignment);

/* grid_search.c */

NW_MUST_CHECK nw_status nw_multilevel_anneal_grid(
    struct multilevel_search *search, const struct nw_stencil *stencil);

/* Grids are answered in milliseconds. */
NW_MUST_CHECK nw_status nw_multilevel_improve_grid(
    struct multilevel_search *search, const struct nw_best_tiling *tile);

#endif

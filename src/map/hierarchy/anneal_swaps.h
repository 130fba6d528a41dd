/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Simulated annealing that lowers the hop-bytes of an assignment by swaps of
 * the contents of slots. Each round divides the subtrees below the root into
 * groups at random, and anneals each group alone. All subtrees below the root
 * are equally far from each other. So a swap inside a group changes no distance
 * to a process of another group, and groups can run on any number of threads
 * with the same result.
 */
#ifndef NW_MAP_HIERARCHY_ANNEAL_SWAPS_H
#define NW_MAP_HIERARCHY_ANNEAL_SWAPS_H

#include "map/common/budget.h"
#include "map/hierarchy/assignment.h"

/* The input, the settings and the result of nw_anneal_swaps and of
 * nw_anneal_swaps_table. */
struct nw_anneal_swaps {
    struct nw_assignment *assignment;
    struct nw_budget *budget;
    uint64_t seed;
    uint64_t steps; /* number of trials in all rounds together; with the table,
                       fewer are made if swaps change too much of it */
    double temperature; /* temperature of the first round, in units of the mean
                           bytes of an edge times the second smallest distance
                           of the tree (without 0); with the table, the unit is
                           less if most bytes stay inside the smallest subtrees
                         */
    bool sparing; /* without the table: try swaps of processes with many edges
                     less often */
    double cost;  /* hop-bytes of the assignment, in and out */
};

/* Runs the annealing. The assignment becomes the best one seen, which costs at
 * most as much as the given one. Does nothing if the tree has fewer than three
 * levels. */
NW_MUST_CHECK nw_status nw_anneal_swaps(struct nw_anneal_swaps *anneal_swaps);

/* Runs the annealing of an assignment that nw_anneal_swaps_table_fits, with a
 * delta table: it holds the hop-bytes that each process would have on each
 * slot. A trial evaluates swaps of one process with several slots near one of
 * its peers, with a few table lookups whatever the number of peers. An accepted
 * swap updates the table rows of the peers of both processes. The assignment
 * becomes the best one seen, which costs at most as much as the given one. */
NW_MUST_CHECK nw_status
nw_anneal_swaps_table(struct nw_anneal_swaps *anneal_swaps);

/* Returns true if nw_anneal_swaps_table can be used: the tree has at least
 * three levels, the table is small enough, its values fit floats, and loads are
 * not limited. */
bool nw_anneal_swaps_table_fits(const struct nw_assignment *assignment);

#endif

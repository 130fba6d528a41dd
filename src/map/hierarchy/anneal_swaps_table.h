/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Swap annealing with a delta table, for few processes: the table holds the
 * hop-bytes that each process would have on each slot. A trial evaluates swaps
 * of one process with several slots near one of its peers, with a few table
 * lookups whatever the number of peers. An accepted swap updates the table rows
 * of the peers of both processes.
 */
#ifndef NW_MAP_HIERARCHY_ANNEAL_SWAPS_TABLE_H
#define NW_MAP_HIERARCHY_ANNEAL_SWAPS_TABLE_H

#include "map/common/budget.h"
#include "map/hierarchy/assignment.h"

/* The input, the settings and the result of nw_anneal_swaps_table. */
struct nw_anneal_swaps_table {
    struct nw_assignment
        *assignment; /* must satisfy nw_anneal_swaps_table_fits */
    struct nw_budget *budget;
    uint64_t seed;
    uint64_t tries; /* number of trials in all rounds together; fewer are made
                       if swaps change too much of the table */
    int32_t rounds;
    double temperature; /* temperature of the first round, in units of the mean
                           bytes of an edge (less if most bytes stay inside the
                           smallest subtrees) times the second smallest distance
                           of the tree (without 0) */
    double cost;        /* hop-bytes of the assignment, in and out */
};

/* Runs the annealing. The assignment becomes the best one seen, which costs at
 * most as much as the given one. */
NW_MUST_CHECK nw_status
nw_anneal_swaps_table(struct nw_anneal_swaps_table *swaps_table);

/* Returns true if nw_anneal_swaps_table can be used: the tree has at least
 * three levels, the table is small enough, its values fit floats, and loads are
 * not limited. */
bool nw_anneal_swaps_table_fits(const struct nw_assignment *assignment);

#endif

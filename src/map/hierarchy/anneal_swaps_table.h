/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Swap annealing with a delta table, for few processes: the table holds the
 * hop-bytes of each process on each slot. A trial evaluates a process against
 * several slots near one of its peers, with a few lookups for any number of
 * peers. An accepted swap updates the rows of the peers of both processes.
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
    uint64_t tries; /* trials of all rounds together */
    int32_t rounds;
    double temperature; /* of the first round, in units of the mean edge times
                           the second smallest distance */
    double cost;        /* cost of the assignment, in and out */
};

/* Anneals; the assignment becomes the best one seen, which is never worse than
 * before. */
NW_MUST_CHECK nw_status
nw_anneal_swaps_table(struct nw_anneal_swaps_table *swaps_table);

/* Returns true if the tree has at least three levels, the table and its values
 * are small enough, and no load is limited. */
bool nw_anneal_swaps_table_fits(const struct nw_assignment *assignment);

#endif

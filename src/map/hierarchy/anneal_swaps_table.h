/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Swaps of few processes, annealed as in anneal_swaps.h, but with the hop-bytes
 * that each process would have on every seat at hand: a try looks at a process
 * and several seats near one of its peers at once, each a few lookups however
 * many peers there are, and what is accepted alters the rows of those two's
 * peers.
 */
#ifndef NW_MAP_HIERARCHY_ANNEAL_SWAPS_TABLE_H
#define NW_MAP_HIERARCHY_ANNEAL_SWAPS_TABLE_H

#include "map/common/budget.h"
#include "map/hierarchy/assignment.h"

struct nw_anneal_swaps_table {
    struct nw_assignment *assignment; /* that fits */
    struct nw_budget *budget;
    uint64_t seed;
    uint64_t tries; /* all rounds together */
    int32_t rounds;
    double temperature; /* of the first round, in mean bonds over the second
                    smallest distance */
    double cost;        /* of the layout: in and out */
};

/* The layout becomes the best seen, never worse. */
NW_MUST_CHECK nw_status
nw_anneal_swaps_table(struct nw_anneal_swaps_table *swaps_table);

/* Whether the table is not too large, nor what it holds; what bears limits does
 * not fit. */
bool nw_anneal_swaps_table_fits(const struct nw_assignment *assignment);

#endif

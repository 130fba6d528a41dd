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

#include "map/hierarchy/anneal_swaps.h"

/* Runs the annealing of an assignment that nw_anneal_swaps_table_fits. The
 * assignment becomes the best one seen, which costs at most as much as the
 * given one. */
NW_MUST_CHECK nw_status
nw_anneal_swaps_table(struct nw_anneal_swaps *anneal_swaps);

/* Returns true if nw_anneal_swaps_table can be used: the tree has at least
 * three levels, the table is small enough, its values fit floats, and loads are
 * not limited. */
bool nw_anneal_swaps_table_fits(const struct nw_assignment *assignment);

#endif

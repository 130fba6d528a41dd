/* SPDX-License-Identifier: BSD-3-Clause */
/* Solvers of the quadratic assignment problem: they choose a location for each
 * facility (subdomain). An assignment is an array `at`; facility i is on
 * location at[i]. */
#ifndef NW_HALO_PLAN_ASSIGNMENT_H
#define NW_HALO_PLAN_ASSIGNMENT_H

#include <nodewise/halo.h>

/* Gains below this fraction of the cost are ignored, since costs and bounds are
 * sums of rounded numbers. */
#define NW_HALO_TOLERANCE 1e-9

/* Returns the cost of an assignment: the sum over all ordered pairs (i, j) of
 * facilities, also i = j, of the flow from i to j times the distance of their
 * locations. */
double nw_halo_assignment_cost(const struct nw_halo_assignment *problem,
                               const int32_t *at);
/* Lowers the cost by swapping two facilities, until no swap lowers it by more
 * than the tolerance. */
void nw_halo_assignment_descend(const struct nw_halo_assignment *problem,
                                int32_t *at);
/* Searches an assignment by the mapping engine (nw_map) and improves it by
 * swaps. Changes `out` only if this gives a better one. */
NW_MUST_CHECK nw_status nw_halo_assignment_engine(
    const struct nw_halo_assignment *problem, int32_t *out);

#endif

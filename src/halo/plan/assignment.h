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

/* Returns the cost of an assignment: the sum over all pairs of facilities of
 * their flow times the distance of their locations. */
double nw_halo_assignment_cost(const struct nw_halo_assignment *problem,
                               const int32_t *at);
/* Lowers the cost by swapping two facilities, until no swap lowers it any more.
 */
void nw_halo_assignment_descend(const struct nw_halo_assignment *problem,
                                int32_t *at);
/* Searches an assignment by the mapping engine. Changes `out` only if the
 * engine finds a better one. */
NW_MUST_CHECK nw_status nw_halo_assignment_engine(
    const struct nw_halo_assignment *problem, int32_t *out);

#endif

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
/* Solves a linear assignment problem: returns the least sum of n numbers of an
 * n x n matrix, one from each row and one from each column. No number may be
 * negative. The rows of `cost` are NW_HALO_WIDE numbers apart. On return, each
 * element of `cost` holds a lower bound of the increase of this sum if the
 * element must be used. */
#define NW_HALO_WIDE 16
double nw_halo_linear_assignment(double *cost, int n);
/* Improves the assignment `out` by branch and bound. The search ends when the
 * assignment is proven optimal or when the step limit is reached; *report says
 * which of the two happened. */
NW_MUST_CHECK nw_status
nw_halo_assignment_prove(const struct nw_halo_assignment *problem, int32_t *out,
                         struct nw_halo_assigned *report);
/* Searches an assignment by the mapping engine. Changes `out` only if the
 * engine finds a better one. */
NW_MUST_CHECK nw_status nw_halo_assignment_engine(
    const struct nw_halo_assignment *problem, int32_t *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Solvers of the quadratic assignment problem: which facility (subdomain) goes
 * to which location. */
#ifndef NW_HALO_PLAN_ASSIGNMENT_H
#define NW_HALO_PLAN_ASSIGNMENT_H

#include <nodewise/halo.h>

/* Gains below this fraction of the cost are ignored, since bounds are sums of
 * rounded numbers. */
#define NW_HALO_TOLERANCE 1e-9

double nw_halo_assignment_cost(const struct nw_halo_assignment *problem,
                               const int32_t *at);
/* Swaps pairs of facilities until no swap lowers the cost. */
void nw_halo_assignment_descend(const struct nw_halo_assignment *problem,
                                int32_t *at);
/* Returns the least sum of n numbers of an n x n matrix, one from each row and
 * one from each column. Rows are NW_HALO_WIDE numbers apart; no number is
 * negative. On return `cost` holds, for each place of the matrix, a lower bound
 * of the increase of the sum if that place is used. */
#define NW_HALO_WIDE 16
double nw_halo_linear_assignment(double *cost, int n);
/* Improves the assignment `out` until it is proven optimal or the step limit is
 * reached. */
NW_MUST_CHECK nw_status
nw_halo_assignment_prove(const struct nw_halo_assignment *problem, int32_t *out,
                         struct nw_halo_assigned *report);
/* Searches with the mapping engine, and changes the assignment `out` only if
 * the engine finds a better one. */
NW_MUST_CHECK nw_status nw_halo_assignment_engine(
    const struct nw_halo_assignment *problem, int32_t *out);

#endif

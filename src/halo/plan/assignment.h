/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the assignment problem. */
#ifndef NW_HALO_PLAN_ASSIGNMENT_H
#define NW_HALO_PLAN_ASSIGNMENT_H

#include <nodewise/halo.h>

/* Bounds are sums of rounded numbers: what is better by less is no better. */
#define NW_HALO_TOLERANCE 1e-9

double nw_halo_assignment_cost(const struct nw_halo_assignment *problem,
                               const int32_t *at);
/* Swaps pairs as long as that helps. */
void nw_halo_assignment_descend(const struct nw_halo_assignment *problem,
                                int32_t *at);
/* The least sum of one number from each row and column of n x n, rows WIDE
 * apart, all from 0; `cost` is left with what is added at least where a row
 * takes a certain column. */
#define NW_HALO_WIDE 16
double nw_halo_linear_assignment(double *cost, int n);
/* Betters an answer until it is proven best, or the steps are used up. */
NW_MUST_CHECK nw_status
nw_halo_assignment_prove(const struct nw_halo_assignment *problem, int32_t *out,
                         struct nw_halo_assigned *report);
/* Lets the mapping engine search; out is an answer, kept where it is better. */
NW_MUST_CHECK nw_status nw_halo_assignment_engine(
    const struct nw_halo_assignment *problem, int32_t *out);

#endif

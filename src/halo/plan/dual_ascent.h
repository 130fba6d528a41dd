/* SPDX-License-Identifier: BSD-3-Clause */
/* The linearised quadratic assignment problem, and the dual ascent that gives a
 * lower bound. */
#ifndef NW_HALO_PLAN_DUAL_ASCENT_H
#define NW_HALO_PLAN_DUAL_ASCENT_H

#include <nodewise/status.h>

#include <stdbool.h>

#define NW_HALO_EXACT_MOST 16

/* A quadratic assignment problem with n remaining facilities and n locations.
 * Every assignment costs `bound`, plus linear[i * n + p] if facility i is on
 * location p. It also costs pair[((i * n + p) * n + j) * n + q] if in addition
 * facility j is on location q. No cost is negative. nw_halo_dual_ascent_look
 * sets `ahead`. */
struct nw_halo_dual_ascent {
    int n;
    int facility[NW_HALO_EXACT_MOST], location[NW_HALO_EXACT_MOST];
    double bound;
    double linear[NW_HALO_EXACT_MOST * NW_HALO_EXACT_MOST];
    double ahead[NW_HALO_EXACT_MOST * NW_HALO_EXACT_MOST];
    double *pair; /* [n^4] numbers, owned by this struct */
};

/* Raises problem->bound until it reaches `enough`, in at most `rounds` rounds;
 * stops earlier if a round gains little. The cost of assignments cheaper than
 * `enough` does not change. Such an assignment never puts facility i on
 * location p if linear[i * n + p] >= enough - bound. */
void nw_halo_dual_ascent_run(struct nw_halo_dual_ascent *problem, double enough,
                             int rounds);
/* Sets ahead[i * n + p] to the least increase of the bound if facility i is on
 * location p; excludes this location for facility i if the bound would reach
 * `enough`. */
void nw_halo_dual_ascent_look(struct nw_halo_dual_ascent *problem,
                              double enough);
/* Sets *out to the problem that remains if facility i is fixed on location p;
 * the caller has allocated out->pair. */
void nw_halo_dual_ascent_fix(const struct nw_halo_dual_ascent *problem, int i,
                             int p, struct nw_halo_dual_ascent *out);

#endif

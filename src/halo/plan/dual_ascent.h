/* SPDX-License-Identifier: BSD-3-Clause */
/* The quadratic assignment problem with its products made linear, and the
 * dual ascent that bounds it from below. */
#ifndef NW_HALO_PLAN_DUAL_ASCENT_H
#define NW_HALO_PLAN_DUAL_ASCENT_H

#include <nodewise/status.h>

#include <stdbool.h>

#define NW_HALO_EXACT_MOST 16

/* n facilities left on n locations: `bound` is paid by every answer, linear[i *
 * n + p] on top where i is on p, pair[((i * n + p) * n + j) * n + q] where j is
 * on q too. All are from 0. `ahead` is nw_halo_dual_ascent_look's. */
struct nw_halo_dual_ascent {
    int n;
    int facility[NW_HALO_EXACT_MOST], location[NW_HALO_EXACT_MOST];
    double bound;
    double linear[NW_HALO_EXACT_MOST * NW_HALO_EXACT_MOST];
    double ahead[NW_HALO_EXACT_MOST * NW_HALO_EXACT_MOST];
    double *pair; /* [n^4], owned */
};

/* Raises the bound, at most to `enough`, without changing what any answer
 * costs that is cheaper than `enough`; places with linear >= enough - bound
 * are in no such answer. At most so many rounds, fewer where they gain little.
 */
void nw_halo_dual_ascent_run(struct nw_halo_dual_ascent *problem, double enough,
                             int rounds);
/* ahead[i * n + p] becomes what at least is added to the bound where i is on p;
 * places where that is enough are out. */
void nw_halo_dual_ascent_look(struct nw_halo_dual_ascent *problem,
                              double enough);
/* The problem that is left when row i goes on column p; `out` has room. */
void nw_halo_dual_ascent_fix(const struct nw_halo_dual_ascent *problem, int i,
                             int p, struct nw_halo_dual_ascent *out);

#endif

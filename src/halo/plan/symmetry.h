/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds rows of a matrix that are symmetric: a renumbering of the rows and
 * columns that exchanges them leaves the matrix unchanged. */
#ifndef NW_HALO_PLAN_SYMMETRY_H
#define NW_HALO_PLAN_SYMMETRY_H

#include "halo/plan/dual_ascent.h"

struct nw_halo_symmetry {
    const double *matrix; /* [n * n] */
    int n;                /* at most NW_HALO_EXACT_MOST */
    const bool *taken;    /* [n] true: the row must keep its number */
};

/* Sets orbit[i] to the lowest row that is symmetric to row i, or to i. Returns
 * false if no two rows are symmetric. May miss some symmetric rows. */
bool nw_halo_orbits(const struct nw_halo_symmetry *symmetry, int *orbit);

#endif

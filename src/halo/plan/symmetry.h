/* SPDX-License-Identifier: BSD-3-Clause */
/* Symmetric rows of a matrix. */
#ifndef NW_HALO_PLAN_SYMMETRY_H
#define NW_HALO_PLAN_SYMMETRY_H

#include "halo/plan/dual_ascent.h"

struct nw_halo_symmetry {
    const double *matrix; /* [n * n] */
    int n;                /* at most NW_HALO_EXACT_MOST */
    const bool *taken;    /* [n] rows that must not be renumbered */
};

/* Sets orbit[i] to the first row that is symmetric to i, or to i. Returns false
 * if no two rows are symmetric. May miss some symmetric rows. */
bool nw_halo_orbits(const struct nw_halo_symmetry *symmetry, int *orbit);

#endif

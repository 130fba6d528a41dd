/* SPDX-License-Identifier: BSD-3-Clause */
/* Places of a matrix that stand for each other. */
#ifndef NW_HALO_PLAN_SYMMETRY_H
#define NW_HALO_PLAN_SYMMETRY_H

#include "halo/plan/dual_ascent.h"

struct nw_halo_symmetry {
    const double *matrix; /* [n * n] */
    int n;                /* at most NW_HALO_EXACT_MOST */
    const bool *taken;    /* [n] those that stay where they are */
};

/* orbit[i]: the first place that stands for i, i where none does; false where
 * there is no pair. Some that do stand for each other may be left apart. */
bool nw_halo_orbits(const struct nw_halo_symmetry *symmetry, int *orbit);

#endif

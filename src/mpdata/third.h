/* SPDX-License-Identifier: BSD-3-Clause */
/* The third-order terms of an antidiffusive velocity, which only the staged
 * solver computes. */
#ifndef NW_MPDATA_THIRD_H
#define NW_MPDATA_THIRD_H

#include "mpdata/formula.h"

NW_INLINE real corner_difference(const struct around *a, ptrdiff_t k, int side)
{
    return (a->bc[side][3][k] - a->bc[side][2][k]) -
           (a->bc[side][1][k] - a->bc[side][0][k]);
}

NW_INLINE real corner_sum(const struct around *a, ptrdiff_t k, int side)
{
    return (a->bc[side][3][k] + a->bc[side][2][k]) +
           (a->bc[side][1][k] + a->bc[side][0][k]);
}

NW_INLINE real twist(const real *const p[2][2], ptrdiff_t k)
{
    return (p[1][1][k] - p[0][1][k]) - (p[1][0][k] - p[0][0][k]);
}

/* Returns the third-order term of Smolarkiewicz and Margolin (1998), equation
 * 36, for constant velocity, which is added to the antidiffusive velocity. It
 * is in units of g times Courant numbers, where g is the mean of h. */
NW_INLINE real third_order_term(const struct around *a, const struct sums *f,
                                ptrdiff_t k, bool gauge)
{
    real g = f->h / 2, u = f->v / g, v = f->vb / (4 * g), w = f->vc / (4 * g);
    real size = magnitude(u), far = a->far[1][k] + a->far[0][k];
    real sum = far + f->s;
    real corners = corner_sum(a, k, 0) + corner_sum(a, k, 1);
    real xx = 2 * (far - f->s) / (gauge ? 4 : sum + NW_TINY);
    real xy = 2 * twist(a->b, k) / (gauge ? 4 : f->sb + NW_TINY);
    real xz = 2 * twist(a->c, k) / (gauge ? 4 : f->sc + NW_TINY);
    real yz = (corner_difference(a, k, 0) + corner_difference(a, k, 1)) /
              (gauge ? 8 : corners + NW_TINY);
    return g * ((3 * u * size - 2 * u * u * u - u) / 6 * xx +
                (size - 2 * u * u) / 2 * (v * xy + w * xz) -
                2 * u * v * w / 3 * yz);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The formulas of a cell and of a face, once for both paths: this is why the
 * blocked path and the stages agree to the last bit. Smolarkiewicz (1984), with
 * the limiter of Smolarkiewicz and Grabowski (1990), the divergent-flow and
 * third-order terms of Smolarkiewicz and Margolin (1998). No term may be
 * contracted or reordered by the compiler.
 */
#ifndef NW_MPDATA_FORMULA_H
#define NW_MPDATA_FORMULA_H

#include "mpdata/real.h"
#include <stdbool.h>
#include <stddef.h>

struct rule {
    bool fast, gauge, divergent, third;
};

/* Rows around a face along axis a; b and c are the next axes in the cycle.
 * The first index is the side of the face, the second low or high across. */
struct around {
    const real *x[2], *b[2][2], *c[2][2];
    const real *v, *vb[2][2], *vc[2][2], *h[2];
    const real *next[2];  /* divergent: the velocities of the faces beside */
    const real *far[2];   /* third order: x one further on each side */
    const real *bc[2][4]; /* third order: x across both: -- -+ +- ++ */
};

#ifdef NW_TEXTBOOK
#include <math.h>
#define least(a, b) ((real)fmin(a, b))
#define most(a, b) ((real)fmax(a, b))
#else
NW_INLINE real least(real a, real b)
{
    return a < b ? a : b;
}

NW_INLINE real most(real a, real b)
{
    return a > b ? a : b;
}
#endif

NW_INLINE real magnitude(real a)
{
    return NW_IS_SINGLE ? (real)__builtin_fabsf((float)a)
                        : (real)__builtin_fabs((double)a);
}

/* What a face of velocity v lets through. */
NW_INLINE real donor(real low, real high, real v)
{
    return most(v, 0) * low + least(v, 0) * high;
}

/* The sums of a face that its velocity is made of. */
struct sums {
    real d, s;   /* along the axis: difference and sum of two */
    real db, sb; /* across, axis b: of four */
    real dc, sc;
    real v, vb, vc; /* own velocity; four times the means across */
    real h;         /* sum of two */
};

NW_INLINE real four(const real *const p[2][2], ptrdiff_t k)
{
    return (p[1][1][k] + p[0][1][k]) + (p[1][0][k] + p[0][0][k]);
}

NW_INLINE real across(const real *const p[2][2], ptrdiff_t k)
{
    return (p[1][1][k] + p[0][1][k]) - (p[1][0][k] + p[0][0][k]);
}

NW_INLINE struct sums face_sums(const struct around *a, ptrdiff_t k)
{
    return (struct sums){
        .d = a->x[1][k] - a->x[0][k],
        .s = a->x[1][k] + a->x[0][k],
        .db = across(a->b, k),
        .sb = four(a->b, k),
        .dc = across(a->c, k),
        .sc = four(a->c, k),
        .v = a->v[k],
        .vb = four(a->vb, k),
        .vc = four(a->vc, k),
        .h = a->h[0][k] + a->h[1][k],
    };
}

/* |v|/2 (1 - |v|/g) A - v/(2g) (vb B + vc D), g the mean of h. */
NW_INLINE real strict_velocity(const struct sums *f, bool gauge)
{
    const real half = (real)0.5, quarter = (real)0.25;
    real g = half * f->h, size = magnitude(f->v);
    real along = gauge ? f->d : 2 * f->d / (f->s + NW_TINY);
    real b = gauge ? quarter * f->db : f->db / (f->sb + NW_TINY);
    real c = gauge ? quarter * f->dc : f->dc / (f->sc + NW_TINY);
    return half * size * (1 - size / g) * along -
           f->v / (2 * g) * (quarter * f->vb * b + quarter * f->vc * c);
}

/* The same over the common denominator of all its fractions. */
NW_INLINE real fast_velocity(const struct sums *f)
{
    const real quarter = (real)0.25;
    real size = magnitude(f->v), s = f->s + NW_SMALL;
    real sb = f->sb + NW_SMALL, sc = f->sc + NW_SMALL, both = sb * sc;
    real along = size * (f->h - 2 * size) * f->d * both;
    real aside = quarter * f->v * s * (f->vb * f->db * sc + f->vc * f->dc * sb);
    return (along - aside) / (f->h * s * both);
}

NW_INLINE real fast_gauge_velocity(const struct sums *f)
{
    const real half = (real)0.5, eighth = (real)0.125;
    real size = magnitude(f->v);
    real along = half * size * (f->h - 2 * size) * f->d;
    return (along - eighth * half * f->v * (f->vb * f->db + f->vc * f->dc)) /
           f->h;
}

/* Smolarkiewicz and Margolin 1998, equation 30. */
NW_INLINE real divergence_term(const struct around *a, const struct sums *f,
                               ptrdiff_t k, bool gauge)
{
    const real half = (real)0.5;
    real sum =
        (a->next[1][k] - a->next[0][k]) + across(a->vb, k) + across(a->vc, k);
    real term = half * f->v / f->h * sum;
    return gauge ? term * half * f->s : term;
}

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

/* Their equation 36, for constant velocity; g times Courant numbers. */
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

/* The antidiffusive velocity of a face. */
NW_INLINE real velocity(const struct around *a, ptrdiff_t k, struct rule rule)
{
    struct sums f = face_sums(a, k);
    real v = !rule.fast   ? strict_velocity(&f, rule.gauge)
             : rule.gauge ? fast_gauge_velocity(&f)
                          : fast_velocity(&f);
    if (rule.divergent)
        v -= divergence_term(a, &f, k, rule.gauge);
    if (rule.third)
        v += third_order_term(a, &f, k, rule.gauge);
    return v;
}

/* With the infinite gauge x is 1 and small beside it: the velocity is what
 * goes through. */
NW_INLINE real through(real low, real high, real v, bool gauge)
{
    return gauge ? v : donor(low, high, v);
}

/* What of a flux is let through: as much as the cell that gives may lose (cn)
 * and the one that takes may gain (cp), ratios of at most 1. */
NW_INLINE real limit(real f, real low_cp, real high_cp, real low_cn,
                     real high_cn)
{
    return most(f, 0) * least(low_cn, high_cp) +
           least(f, 0) * least(low_cp, high_cn);
}

NW_INLINE real ratio(real room, real flow)
{
    return least(room / (flow + NW_UNIT), 1);
}

#endif

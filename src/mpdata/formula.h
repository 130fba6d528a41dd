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

#include "mpdata/vector.h"
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

/* Values around a face, as the rows above. */
struct face {
    val x[2], b[2][2], c[2][2];
    val v, vb[2][2], vc[2][2], h[2];
    val next[2];
};

NW_INLINE void get_four(val to[2][2], const real *const from[2][2], ptrdiff_t k)
{
    for (int side = 0; side < 2; side++)
        for (int across = 0; across < 2; across++)
            to[side][across] = get(from[side][across], k);
}

NW_INLINE void get_face(struct face *to, const struct around *a, ptrdiff_t k)
{
    for (int side = 0; side < 2; side++) {
        to->x[side] = get(a->x[side], k);
        to->h[side] = get(a->h[side], k);
        to->next[side] = get(a->next[side], k);
    }
    to->v = get(a->v, k);
    get_four(to->b, a->b, k);
    get_four(to->c, a->c, k);
    get_four(to->vb, a->vb, k);
    get_four(to->vc, a->vc, k);
}

/* Donor-cell flux through a face of velocity v. */
NW_INLINE val donor(val low, val high, val v)
{
    const val zero = {0};

    return most(v, zero) * low + least(v, zero) * high;
}

/* The sums of a face that its velocity is made of. */
struct sums {
    val d, s;   /* along the axis: difference and sum of two */
    val db, sb; /* across, axis b: of four */
    val dc, sc;
    val v, vb, vc; /* own velocity; four times the means across */
    val h;         /* sum of two */
};

NW_INLINE val four(const val p[2][2])
{
    return (p[1][1] + p[0][1]) + (p[1][0] + p[0][0]);
}

NW_INLINE val across(const val p[2][2])
{
    return (p[1][1] + p[0][1]) - (p[1][0] + p[0][0]);
}

NW_INLINE struct sums face_sums(const struct face *f)
{
    return (struct sums){
        .d = f->x[1] - f->x[0],
        .s = f->x[1] + f->x[0],
        .db = across(f->b),
        .sb = four(f->b),
        .dc = across(f->c),
        .sc = four(f->c),
        .v = f->v,
        .vb = four(f->vb),
        .vc = four(f->vc),
        .h = f->h[0] + f->h[1],
    };
}

/* |v|/2 (1 - |v|/g) A - v/(2g) (vb B + vc D), g the mean of h. */
NW_INLINE val strict_velocity(const struct sums *f, bool gauge)
{
    const real half = (real)0.5, quarter = (real)0.25;
    val g = half * f->h, size = magnitude(f->v);
    val along = gauge ? f->d : 2 * f->d / (f->s + NW_TINY);
    val b = gauge ? quarter * f->db : f->db / (f->sb + NW_TINY);
    val c = gauge ? quarter * f->dc : f->dc / (f->sc + NW_TINY);
    return half * size * (1 - size / g) * along -
           f->v / (2 * g) * (quarter * f->vb * b + quarter * f->vc * c);
}

/* The same over the common denominator of all its fractions. */
NW_INLINE val fast_velocity(const struct sums *f)
{
    const real quarter = (real)0.25;
    val size = magnitude(f->v), s = f->s + NW_SMALL;
    val sb = f->sb + NW_SMALL, sc = f->sc + NW_SMALL, both = sb * sc;
    val along = size * (f->h - 2 * size) * f->d * both;
    val aside = quarter * f->v * s * (f->vb * f->db * sc + f->vc * f->dc * sb);
    return (along - aside) / (f->h * s * both);
}

NW_INLINE val fast_gauge_velocity(const struct sums *f)
{
    const real half = (real)0.5, eighth = (real)0.125;
    val size = magnitude(f->v);
    val along = half * size * (f->h - 2 * size) * f->d;
    return (along - eighth * half * f->v * (f->vb * f->db + f->vc * f->dc)) /
           f->h;
}

/* Smolarkiewicz and Margolin 1998, equation 30. */
NW_INLINE val divergence_term(const struct face *a, const struct sums *f,
                              bool gauge)
{
    const real half = (real)0.5;
    val sum = (a->next[1] - a->next[0]) + across(a->vb) + across(a->vc);
    val term = half * f->v / f->h * sum;
    return gauge ? term * half * f->s : term;
}

/* The antidiffusive velocity of a face, without the third-order terms. */
NW_INLINE val velocity(const struct face *a, const struct sums *f,
                       struct rule rule)
{
    val v = !rule.fast   ? strict_velocity(f, rule.gauge)
            : rule.gauge ? fast_gauge_velocity(f)
                         : fast_velocity(f);

    return rule.divergent ? v - divergence_term(a, f, rule.gauge) : v;
}

/* With the infinite gauge x is 1 and small beside it: the velocity is what
 * goes through. */
NW_INLINE val through(val low, val high, val v, bool gauge)
{
    return gauge ? v : donor(low, high, v);
}

/* The limited flux: at most as much as the giving cell may lose (cn) and the
 * taking cell may gain (cp), both ratios of at most 1. */
NW_INLINE val limit(val f, val low_cp, val high_cp, val low_cn, val high_cn)
{
    const val zero = {0};

    return most(f, zero) * least(low_cn, high_cp) +
           least(f, zero) * least(low_cp, high_cn);
}

NW_INLINE val ratio(val room, val flow)
{
    const val zero = {0};

    return least(room / (flow + NW_UNIT), zero + 1);
}

#endif

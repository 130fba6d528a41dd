/* SPDX-License-Identifier: BSD-3-Clause */
/* The formulas of a cell and of a face. The blocked and the staged solver share
 * them, so that both give the same bits. They follow Smolarkiewicz (1984), with
 * the limiter of Smolarkiewicz and Grabowski (1990), and the divergent-flow and
 * third-order terms of Smolarkiewicz and Margolin (1998). The compiler must not
 * contract or reorder terms. */
#ifndef NW_MPDATA_FORMULA_H
#define NW_MPDATA_FORMULA_H

#include "mpdata/vector.h"
#include <stdbool.h>
#include <stddef.h>

/* The variant of the formulas: one division per face, infinite gauge, term of
 * divergent flow, third-order terms. */
struct rule {
    bool fast, gauge, divergent, third;
};

/* The rows around a face of axis a; b and c are the next axes in cyclic order.
 * The first index is the side of the face (0 low, 1 high). The second index is
 * the neighbour along b or c (0 low, 1 high). v is the velocity through the
 * face; vb and vc are velocities along b and c. */
struct around {
    const real *x[2], *b[2][2], *c[2][2];
    const real *v, *vb[2][2], *vc[2][2], *h[2];
    /* divergent flow: velocities through the next faces along axis a, on the
     * low and on the high side */
    const real *next[2];
    const real *far[2]; /* third order: x one cell further on each side */
    /* third order: x of the four diagonal neighbours in the plane of b and c,
     * in the order low low, low high, high low, high high */
    const real *bc[2][4];
};

/* The values around a face, in the order of struct around. */
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

/* Returns the donor-cell (upwind) flux through a face with velocity v. */
NW_INLINE val donor(val low, val high, val v)
{
    const val zero = {0};

    return most(v, zero) * low + least(v, zero) * high;
}

/* The sums from which the antidiffusive velocity of a face is computed; dc and
 * sc are for axis c what db and sb are for axis b. */
struct sums {
    val d, s;   /* along the axis: difference and sum of the x of both cells */
    val db, sb; /* along axis b: difference and sum of the x of four cells */
    val dc, sc;
    val v, vb, vc; /* velocity through the face; sums of the four velocities
                      along b and along c */
    val h;         /* sum of the two h */
};

NW_INLINE val four(const val p[2][2])
{
    return (p[1][1] + p[0][1]) + (p[1][0] + p[0][0]);
}

/* Returns the sum of the high values minus the sum of the low values. */
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

/* Returns |v|/2 (1 - |v|/g) A - v/(2g) (vb B + vc D). Here g is the mean of h;
 * vb and vc are the means of the four velocities along b and c; A, B and D are
 * the relative differences of x along the face's axis, b and c, or plain
 * differences with the infinite gauge. */
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

/* Returns the same velocity as strict_velocity without the infinite gauge,
 * apart from rounding, computed over a common denominator, so that it needs one
 * division. */
NW_INLINE val fast_velocity(const struct sums *f)
{
    const real quarter = (real)0.25;
    val size = magnitude(f->v), s = f->s + NW_SMALL;
    val sb = f->sb + NW_SMALL, sc = f->sc + NW_SMALL, both = sb * sc;
    val along = size * (f->h - 2 * size) * f->d * both;
    val aside = quarter * f->v * s * (f->vb * f->db * sc + f->vc * f->dc * sb);
    return (along - aside) / (f->h * s * both);
}

/* Returns the same velocity as strict_velocity with the infinite gauge, apart
 * from rounding, computed with one division. */
NW_INLINE val fast_gauge_velocity(const struct sums *f)
{
    const real half = (real)0.5, eighth = (real)0.125;
    val size = magnitude(f->v);
    val along = half * size * (f->h - 2 * size) * f->d;
    return (along - eighth * half * f->v * (f->vb * f->db + f->vc * f->dc)) /
           f->h;
}

/* Returns the divergent-flow term of Smolarkiewicz and Margolin (1998),
 * equation 30. It is subtracted from the antidiffusive velocity of the face. */
NW_INLINE val divergence_term(const struct face *a, const struct sums *f,
                              bool gauge)
{
    const real half = (real)0.5;
    val sum = (a->next[1] - a->next[0]) + across(a->vb) + across(a->vc);
    val term = half * f->v / f->h * sum;
    return gauge ? term * half * f->s : term;
}

/* Returns the antidiffusive velocity of a face, without the third-order
 * terms. */
NW_INLINE val velocity(const struct face *a, const struct sums *f,
                       struct rule rule)
{
    val v = !rule.fast   ? strict_velocity(f, rule.gauge)
            : rule.gauge ? fast_gauge_velocity(f)
                         : fast_velocity(f);

    return rule.divergent ? v - divergence_term(a, f, rule.gauge) : v;
}

/* Returns the flux of an antidiffusive velocity v. With the infinite gauge
 * (`gauge`), the values `low` and `high` of both cells count as 1, so that the
 * flux is v itself. */
NW_INLINE val through(val low, val high, val v, bool gauge)
{
    return gauge ? v : donor(low, high, v);
}

/* Returns the limited flux through a face, f times a fraction for each
 * direction. The cell that it leaves loses at most the fraction cn of its
 * outflow, and the cell that it enters gains at most the fraction cp of its
 * inflow. "low" and "high" are the cells on both sides of the face. */
NW_INLINE val limit(val f, val low_cp, val high_cp, val low_cn, val high_cn)
{
    const val zero = {0};

    return most(f, zero) * least(low_cn, high_cp) +
           least(f, zero) * least(low_cp, high_cn);
}

/* Returns the fraction of `flow` that keeps a cell within a bound: room / flow,
 * but at most 1. `room` is the largest flow that the bound allows; NW_UNIT
 * prevents 0 / 0. */
NW_INLINE val ratio(val room, val flow)
{
    const val zero = {0};

    return least(room / (flow + NW_UNIT), zero + 1);
}

#endif

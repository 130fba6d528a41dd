/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the fluxes through the upper faces of each cell of a row along all
 * three axes together. They share most of their inputs, and the speed of the
 * blocked solver is limited by loads. Both in fields and in ring buffers,
 * consecutive rows of a plane are `pitch` elements apart, so that few addresses
 * and three indices reach all inputs. */
#ifndef NW_MPDATA_FACES_H
#define NW_MPDATA_FACES_H

#include "mpdata/rows.h"

enum { FACE_1 = 1, FACE_2 = 2, FACE_3 = 4, FACES = 7 };

/* The rows of the inputs and fluxes at a row of cells, in the plane below, in
 * the cells' own plane, and in the plane above. */
struct face_rows {
    /* x, u1: planes below, own and above; u2, u3, h: own and above; f:
     * fluxes */
    const real *x[3], *u1[3], *u2[2], *u3[2], *h[2];
    real *f[3];
    ptrdiff_t pitch;
};

/* Index of a vector of cells in its row (k), and of the vectors beside it in
 * the previous and in the next row of the plane, all counted from the address
 * of the vector's own row. */
struct place {
    ptrdiff_t k, down, up;
};

NW_INLINE struct face_rows face_rows(const struct sources *from,
                                     const struct stack f[3], struct cell c)
{
    struct face_rows r = {.pitch = from->x.pitch};

    for (int d = 0; d < 3; d++) {
        r.x[d] = at(&from->x, c.p - 1 + d, c.j);
        r.u1[d] = at(&from->u[0], c.p - 1 + d, c.j);
        r.f[d] = at(&f[d], c.p, c.j);
    }
    for (int d = 0; d < 2; d++) {
        r.u2[d] = at(&from->u[1], c.p + d, c.j);
        r.u3[d] = at(&from->u[2], c.p + d, c.j);
        r.h[d] = at(&from->h, c.p + d, c.j);
    }
    return r;
}

/* The neighbours of a cell at a face, low and high along another axis: row[0]
 * at index `low`, row[1] at index `high`. */
struct side {
    const real *row[2];
    ptrdiff_t low, high;
};

NW_INLINE void get_side(val to[2][2], const struct side *low,
                        const struct side *high)
{
    to[0][0] = get(low->row[0], low->low);
    to[0][1] = get(low->row[1], low->high);
    to[1][0] = get(high->row[0], high->low);
    to[1][1] = get(high->row[1], high->high);
}

#define SIDE(a, b, low, high) (&(const struct side){{a, b}, low, high})

/* face_1, face_2 and face_3 collect the inputs of the face above a cell along
 * axis 1, 2 or 3. */
NW_INLINE struct face face_1(const struct face_rows *r, const struct place *c)
{
    ptrdiff_t k = c->k, up = c->up, down = c->down;
    struct face f = {.x = {get(r->x[1], k), get(r->x[2], k)},
                     .h = {get(r->h[0], k), get(r->h[1], k)},
                     .next = {get(r->u1[0], k), get(r->u1[2], k)},
                     .v = get(r->u1[1], k)};

    get_side(f.b, SIDE(r->x[1], r->x[1], down, up),
             SIDE(r->x[2], r->x[2], down, up));
    get_side(f.c, SIDE(r->x[1], r->x[1], k - 1, k + 1),
             SIDE(r->x[2], r->x[2], k - 1, k + 1));
    get_side(f.vb, SIDE(r->u2[0], r->u2[0], down, k),
             SIDE(r->u2[1], r->u2[1], down, k));
    get_side(f.vc, SIDE(r->u3[0], r->u3[0], k - 1, k),
             SIDE(r->u3[1], r->u3[1], k - 1, k));
    return f;
}

NW_INLINE struct face face_2(const struct face_rows *r, const struct place *c)
{
    ptrdiff_t k = c->k, up = c->up, down = c->down;
    struct face f = {.x = {get(r->x[1], k), get(r->x[1], up)},
                     .h = {get(r->h[0], k), get(r->h[0], up)},
                     .next = {get(r->u2[0], down), get(r->u2[0], up)},
                     .v = get(r->u2[0], k)};

    get_side(f.b, SIDE(r->x[1], r->x[1], k - 1, k + 1),
             SIDE(r->x[1], r->x[1], up - 1, up + 1));
    get_side(f.c, SIDE(r->x[0], r->x[2], k, k), SIDE(r->x[0], r->x[2], up, up));
    get_side(f.vb, SIDE(r->u3[0], r->u3[0], k - 1, k),
             SIDE(r->u3[0], r->u3[0], up - 1, up));
    get_side(f.vc, SIDE(r->u1[0], r->u1[1], k, k),
             SIDE(r->u1[0], r->u1[1], up, up));
    return f;
}

NW_INLINE struct face face_3(const struct face_rows *r, const struct place *c)
{
    ptrdiff_t k = c->k, up = c->up, down = c->down;
    struct face f = {.x = {get(r->x[1], k), get(r->x[1], k + 1)},
                     .h = {get(r->h[0], k), get(r->h[0], k + 1)},
                     .next = {get(r->u3[0], k - 1), get(r->u3[0], k + 1)},
                     .v = get(r->u3[0], k)};

    get_side(f.b, SIDE(r->x[0], r->x[2], k, k),
             SIDE(r->x[0], r->x[2], k + 1, k + 1));
    get_side(f.c, SIDE(r->x[1], r->x[1], down, up),
             SIDE(r->x[1], r->x[1], down + 1, up + 1));
    get_side(f.vb, SIDE(r->u1[0], r->u1[1], k, k),
             SIDE(r->u1[0], r->u1[1], k + 1, k + 1));
    get_side(f.vc, SIDE(r->u2[0], r->u2[0], down, k),
             SIDE(r->u2[0], r->u2[0], down + 1, k + 1));
    return f;
}

NW_INLINE val flux_of(const struct face f, struct rule rule)
{
    struct sums sums = face_sums(&f);

    return through(f.x[0], f.x[1], velocity(&f, &sums, rule), rule.gauge);
}

/* The upper faces of a row of cells: the inputs, the axes of the fluxes to
 * compute (a sum of FACE_1, FACE_2, FACE_3), and the range of indices in the
 * row. */
struct flux_row {
    const struct sources *from;
    const struct stack *f; /* [3] */
    struct cell cell;
    int which;
    ptrdiff_t begin, end;
};

NW_INLINE void flux_loop(const struct flux_row *row, int which,
                         struct rule rule)
{
    const struct face_rows r = face_rows(row->from, row->f, row->cell);
    ptrdiff_t end = row->end, pitch = r.pitch;

    NW_VECTOR
    for (ptrdiff_t k = row->begin; k < end; k += NW_LANES) {
        struct place c = {k, k - pitch, k + pitch};
        val f[3] = {0};
        NW_APART(c.down);
        NW_APART(c.up);
        if (which & FACE_1)
            f[0] = flux_of(face_1(&r, &c), rule);
        if (which & FACE_2)
            f[1] = flux_of(face_2(&r, &c), rule);
        if (which & FACE_3)
            f[2] = flux_of(face_3(&r, &c), rule);
        for (int a = 0; a < 3; a++)
            if (which & 1 << a)
                put(r.f[a], k, f[a]);
    }
}

NW_INLINE void flux_rule(const struct flux_row *row, struct rule rule)
{
    if (row->which == FACES)
        flux_loop(row, FACES, rule);
    else
        flux_loop(row, row->which, rule);
}

/* Computes the fluxes that row->which selects. Each variant of the formulas is
 * compiled by itself. */
static __attribute__((noinline)) void flux_span(const struct flux_row *row,
                                                const struct nw_mpdata_view *v)
{
    int kind = (v->divergent ? 4 : 0) + (v->gauge ? 2 : 0) + (v->fast ? 1 : 0);

    switch (kind) {
    case 0:
        flux_rule(row, (struct rule){false, false, false, false});
        break;
    case 1:
        flux_rule(row, (struct rule){true, false, false, false});
        break;
    case 2:
        flux_rule(row, (struct rule){false, true, false, false});
        break;
    case 3:
        flux_rule(row, (struct rule){true, true, false, false});
        break;
    case 4:
        flux_rule(row, (struct rule){false, false, true, false});
        break;
    case 5:
        flux_rule(row, (struct rule){true, false, true, false});
        break;
    case 6:
        flux_rule(row, (struct rule){false, true, true, false});
        break;
    default:
        flux_rule(row, (struct rule){true, true, true, false});
        break;
    }
}

#undef SIDE
#endif

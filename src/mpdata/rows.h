/* SPDX-License-Identifier: BSD-3-Clause */
/* Evaluates the formulas over rows of cells and faces along the contiguous
 * axis. A `struct stack` is either a whole array or a ring buffer of planes, so
 * that the staged and the blocked solver share these functions. */
#ifndef NW_MPDATA_ROWS_H
#define NW_MPDATA_ROWS_H

#include "mpdata/formula.h"
#include "mpdata/view.h"
#include <string.h>

/* Rows, addressed by plane p and row j. `plane` and `pitch` are the distances
 * of planes and rows in elements. A ring buffer has mask + 1 planes, which
 * begin with row `first`. A whole array has mask -1. */
struct stack {
    real *base;
    ptrdiff_t mask, plane, pitch, first;
};

NW_INLINE real *at(const struct stack *s, ptrdiff_t p, ptrdiff_t j)
{
    return s->base + (p & s->mask) * s->plane + (j - s->first) * s->pitch;
}

/* Returns the stack of a field of the view; the field is only read. */
NW_INLINE struct stack whole(const struct nw_mpdata_view *view,
                             const void *field)
{
    return (struct stack){
        .base = (real *)(uintptr_t)field,
        .mask = -1,
        .plane = view->plane,
        .pitch = view->pitch,
    };
}

/* The inputs from which the velocities of faces are computed. */
struct sources {
    struct stack x, u[3], h;
};

struct cell {
    ptrdiff_t p, j;
};

/* Returns the address of the row that is d[axis] cells from the row of `cell`
 * along each axis; along the contiguous axis, the address is moved by d[2]
 * cells. */
NW_INLINE const real *near(const struct stack *s, struct cell cell,
                           const int d[3])
{
    return at(s, cell.p + d[0], cell.j + d[1]) + d[2];
}

NW_INLINE void around_third(struct around *out, const struct stack *x,
                            struct cell cell, int a)
{
    int b = (a + 1) % 3, c = (a + 2) % 3;

    for (int side = 0; side < 2; side++) {
        int d[3] = {0};
        d[a] = side ? 2 : -1;
        out->far[side] = near(x, cell, d);
        d[a] = side;
        for (int corner = 0; corner < 4; corner++) {
            d[b] = corner & 2 ? 1 : -1;
            d[c] = corner & 1 ? 1 : -1;
            out->bc[side][corner] = near(x, cell, d);
        }
    }
}

/* Sets `out` to the rows around the upper face of `cell` along axis a. */
NW_INLINE void around_face(struct around *out, const struct sources *from,
                           struct cell cell, int a)
{
    int b = (a + 1) % 3, c = (a + 2) % 3;

    for (int side = 0; side < 2; side++) {
        int d[3] = {0};
        d[a] = side;
        out->x[side] = near(&from->x, cell, d);
        out->h[side] = near(&from->h, cell, d);
        out->vb[side][1] = near(&from->u[b], cell, d);
        out->vc[side][1] = near(&from->u[c], cell, d);
        d[b] = -1;
        out->b[side][0] = near(&from->x, cell, d);
        out->vb[side][0] = near(&from->u[b], cell, d);
        d[b] = 1;
        out->b[side][1] = near(&from->x, cell, d);
        d[b] = 0;
        d[c] = -1;
        out->c[side][0] = near(&from->x, cell, d);
        out->vc[side][0] = near(&from->u[c], cell, d);
        d[c] = 1;
        out->c[side][1] = near(&from->x, cell, d);
        d[c] = 0;
        d[a] = side ? 1 : -1;
        out->next[side] = near(&from->u[a], cell, d);
    }
    out->v = at(&from->u[a], cell.p, cell.j);
}

/* Computes the six donor-cell fluxes of a cell and returns the cell's new
 * value.
 * - x[0] is the row of the cell.
 * - x[1] and x[2] are the rows of its low and high neighbours along axis 0,
 *   x[3] and x[4] those along axis 1.
 * - u[0] and u[1] are the velocities of the lower and upper faces along axis 0,
 *   u[2] and u[3] those along axis 1.
 * - u[4] are the velocities along axis 2. */
NW_INLINE val donor_cell(const real *const x[5], const real *const u[5],
                         const real *h, ptrdiff_t k)
{
    val own = get(x[0], k);
    val f1 = donor(own, get(x[2], k), get(u[1], k)) -
             donor(get(x[1], k), own, get(u[0], k));
    val f2 = donor(own, get(x[4], k), get(u[3], k)) -
             donor(get(x[3], k), own, get(u[2], k));
    val f3 = donor(own, get(x[0], k + 1), get(u[4], k)) -
             donor(get(x[0], k - 1), own, get(u[4], k - 1));
    return own - (f1 + f2 + f3) / get(h, k);
}

/* The rows of a cell and of its neighbours along axes 0 and 1; its neighbours
 * along axis 2 are in its own row. */
struct star {
    const real *x, *low1, *high1, *low2, *high2;
};

NW_INLINE struct star star_at(const struct stack *x, struct cell c)
{
    return (struct star){at(x, c.p, c.j), at(x, c.p - 1, c.j),
                         at(x, c.p + 1, c.j), at(x, c.p, c.j - 1),
                         at(x, c.p, c.j + 1)};
}

NW_INLINE val star_most(const struct star *s, ptrdiff_t k)
{
    val a = most(get(s->low1, k), get(s->high1, k));
    val b = most(get(s->low2, k), get(s->high2, k));
    val c = most(get(s->x, k - 1), get(s->x, k + 1));
    return most(most(a, b), most(c, get(s->x, k)));
}

NW_INLINE val star_least(const struct star *s, ptrdiff_t k)
{
    val a = least(get(s->low1, k), get(s->high1, k));
    val b = least(get(s->low2, k), get(s->high2, k));
    val c = least(get(s->x, k - 1), get(s->x, k + 1));
    return least(least(a, b), least(c, get(s->x, k)));
}

/* The rows of fluxes through the six faces of a cell: low [0] and high [1]
 * along axes 0 and 1; along axis 2, the high face has the index of the cell. */
struct faces {
    const real *f1[2], *f2[2], *f3;
};

NW_INLINE struct faces faces_at(const struct stack f[3], struct cell c)
{
    return (struct faces){{at(&f[0], c.p - 1, c.j), at(&f[0], c.p, c.j)},
                          {at(&f[1], c.p, c.j - 1), at(&f[1], c.p, c.j)},
                          at(&f[2], c.p, c.j)};
}

/* flow_in returns the sum of the fluxes into a cell, flow_out the sum of the
 * fluxes out of it, and flow_net the difference out minus in. */
NW_INLINE val flow_in(const struct faces *f, ptrdiff_t k)
{
    const val zero = {0};
    val a = most(get(f->f1[0], k), zero) - least(get(f->f1[1], k), zero);
    val b = most(get(f->f2[0], k), zero) - least(get(f->f2[1], k), zero);
    val c = most(get(f->f3, k - 1), zero) - least(get(f->f3, k), zero);
    return a + b + c;
}

NW_INLINE val flow_out(const struct faces *f, ptrdiff_t k)
{
    const val zero = {0};
    val a = most(get(f->f1[1], k), zero) - least(get(f->f1[0], k), zero);
    val b = most(get(f->f2[1], k), zero) - least(get(f->f2[0], k), zero);
    val c = most(get(f->f3, k), zero) - least(get(f->f3, k - 1), zero);
    return a + b + c;
}

NW_INLINE val flow_net(const struct faces *f, ptrdiff_t k)
{
    val a = get(f->f1[1], k) - get(f->f1[0], k);
    val b = get(f->f2[1], k) - get(f->f2[0], k);
    val c = get(f->f3, k) - get(f->f3, k - 1);
    return a + b + c;
}

/* Fills `deep` ghosts at both ends of a row: with the cells of the opposite end
 * if the axis is periodic, with copies of the last cell if it is open. */
NW_INLINE void row_ends(const struct nw_mpdata_view *view, real *row, int deep)
{
    ptrdiff_t l = view->n[2];

    for (ptrdiff_t k = 1; k <= deep; k++) {
        row[-k] = view->open[2][0] ? row[0] : row[(l - k % l) % l];
        row[l - 1 + k] = view->open[2][1] ? row[l - 1] : row[(k - 1) % l];
    }
}

/* Copies a row with two ghosts at each end. */
NW_INLINE void row_copy(const struct nw_mpdata_view *view, real *to,
                        const real *from)
{
    memcpy(to - 2, from - 2, (size_t)(view->n[2] + 4) * sizeof(real));
}

#endif

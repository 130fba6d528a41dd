/* SPDX-License-Identifier: BSD-3-Clause */
/* The 17 stages of a step, each a loop over whole arrays. This file is for
 * readers, and it is the reference by which the blocked solver is tested. The
 * division into stages is our own, made from the statements of the EULAG code;
 * it could not be compared with the list that the literature mentions. Each
 * pass after the first repeats stages 7 to 17. Stages 4, 5 and 10 to 16 belong
 * to the limiter. */
#include "mpdata/stages.h"
#include "mpdata/rows.h"
#include "mpdata/third.h"

struct stages_work {
    const struct nw_mpdata_view *view;
    struct sources from; /* x*, velocities and h, which the present pass
                            reads */
    struct stack x, out, array[NW_STAGE_COUNT];
    struct stack *v;  /* [3] antidiffusive velocities that the present pass
                         computes */
    ptrdiff_t margin; /* number of cells outside the grid that a loop
                         includes */
};

typedef void stage_row(const struct stages_work *work, struct cell c);

/* low_of returns the first index of a loop over planes (axis 0) or rows (axis
 * 1), and high_of the index after the last one. The margin counts on sides that
 * are not open. */
static ptrdiff_t low_of(const struct stages_work *w, int axis)
{
    return w->view->open[axis][0] ? 0 : -w->margin;
}

static ptrdiff_t high_of(const struct stages_work *w, int axis)
{
    return w->view->n[axis] + (w->view->open[axis][1] ? 0 : w->margin);
}

/* Calls `row` for all rows within the margin. For faces of axis 0 or 1, also
 * calls it for the plane or row before the first one, which has the lower
 * faces. `axis` is -1 for cells. */
static void stages_sweep(const struct stages_work *w, int axis, stage_row *row)
{
    ptrdiff_t low = low_of(w, 0) - (axis == 0), high = high_of(w, 0);
    ptrdiff_t first = low_of(w, 1) - (axis == 1), last = high_of(w, 1);

#pragma omp parallel for schedule(static)
    for (ptrdiff_t p = low; p < high; p++)
        for (ptrdiff_t j = first; j < last; j++)
            row(w, (struct cell){p, j});
}

/* Fills the two ghosts at each end of rows, and copies the last row and plane
 * to the two beyond each open side. Only the corrective passes read these
 * copies, so with one pass it does nothing. */
static void stages_edges(const struct stages_work *w,
                         enum nw_mpdata_stage_array which)
{
    const struct nw_mpdata_view *v = w->view;
    const struct stack *s = &w->array[which];

    if (v->passes == 1)
        return;
    for (ptrdiff_t p = low_of(w, 0); p < high_of(w, 0); p++) {
        for (ptrdiff_t j = low_of(w, 1); j < high_of(w, 1); j++)
            row_ends(v, at(s, p, j), 2);
        for (ptrdiff_t deep = 1; deep <= 2; deep++) {
            if (v->open[1][0])
                row_copy(v, at(s, p, -deep), at(s, p, 0));
            if (v->open[1][1])
                row_copy(v, at(s, p, v->n[1] - 1 + deep),
                         at(s, p, v->n[1] - 1));
        }
    }
    for (ptrdiff_t j = -v->ghost; j < v->n[1] + v->ghost; j++) {
        for (ptrdiff_t deep = 1; deep <= 2; deep++) {
            if (v->open[0][0])
                row_copy(v, at(s, -deep, j), at(s, 0, j));
            if (v->open[0][1])
                row_copy(v, at(s, v->n[0] - 1 + deep, j),
                         at(s, v->n[0] - 1, j));
        }
    }
}

/* Returns the first index of a row: -1 for faces of the contiguous axis,
 * because the first cell has a lower face. */
static ptrdiff_t row_begin(int axis)
{
    return axis == 2 ? -1 : 0;
}

/* Stages 1 to 3 compute the donor-cell fluxes. */
NW_INLINE void donor_flux(const struct stages_work *w, struct cell c, int axis)
{
    const int unit[3] = {axis == 0, axis == 1, axis == 2};
    const real *x = at(&w->x, c.p, c.j), *next = near(&w->x, c, unit);
    const real *u = at(&w->from.u[axis], c.p, c.j);
    real *restrict f = at(&w->array[NW_STAGE_F1 + axis], c.p, c.j);
    ptrdiff_t l = w->view->n[2];

    NW_VECTOR
    for (ptrdiff_t k = row_begin(axis); k < l; k++)
        f[k] = donor(x[k], next[k], u[k]);
}

static void stage_1(const struct stages_work *w, struct cell c)
{
    donor_flux(w, c, 0);
}

static void stage_2(const struct stages_work *w, struct cell c)
{
    donor_flux(w, c, 1);
}

static void stage_3(const struct stages_work *w, struct cell c)
{
    donor_flux(w, c, 2);
}

/* Stage 4 computes the maximum of x over a cell and its neighbours before the
 * step. */
static void stage_4(const struct stages_work *w, struct cell c)
{
    struct star x = star_at(&w->x, c);
    real *restrict mx = at(&w->array[NW_STAGE_MX0], c.p, c.j);
    ptrdiff_t l = w->view->n[2];

    NW_VECTOR
    for (ptrdiff_t k = 0; k < l; k++)
        mx[k] = star_most(&x, k);
}

/* Stage 5 computes the minimum of x over a cell and its neighbours before the
 * step. */
static void stage_5(const struct stages_work *w, struct cell c)
{
    struct star x = star_at(&w->x, c);
    real *restrict mn = at(&w->array[NW_STAGE_MN0], c.p, c.j);
    ptrdiff_t l = w->view->n[2];

    NW_VECTOR
    for (ptrdiff_t k = 0; k < l; k++)
        mn[k] = star_least(&x, k);
}

/* Computes out = x - (fluxes out of the cell - fluxes into it) / h for a row.
 */
NW_INLINE void update(const struct stages_work *w, struct cell c, const real *x,
                      real *out)
{
    struct faces f = faces_at(&w->array[NW_STAGE_F1], c);
    const real *h = at(&w->from.h, c.p, c.j);
    ptrdiff_t l = w->view->n[2];

    NW_VECTOR
    for (ptrdiff_t k = 0; k < l; k++)
        out[k] = x[k] - flow_net(&f, k) / h[k];
}

/* Stage 6 computes x* from the donor-cell fluxes. */
static void stage_6(const struct stages_work *w, struct cell c)
{
    update(w, c, at(&w->x, c.p, c.j), at(&w->array[NW_STAGE_XS], c.p, c.j));
}

/* Fills the ghosts at both ends of a row of velocities if the contiguous axis
 * is periodic. Beyond an open side they stay 0. */
static void velocity_ends(const struct stages_work *w, real *v)
{
    ptrdiff_t l = w->view->n[2];

    if (w->view->open[2][0])
        return;
    for (ptrdiff_t k = 1; k <= 2; k++) {
        v[-k] = v[(l - k % l) % l];
        v[l - 1 + k] = v[(k - 1) % l];
    }
}

NW_INLINE real face_velocity(const struct around *a, ptrdiff_t k,
                             struct rule rule)
{
    struct face f;

    get_face(&f, a, k);
    struct sums sums = face_sums(&f);
    real v = velocity(&f, &sums, rule);
    return rule.third ? v + third_order_term(a, &sums, k, rule.gauge) : v;
}

NW_INLINE void corrective(const struct stages_work *w, struct cell c, int axis,
                          struct rule rule)
{
    real *restrict v = at(&w->v[axis], c.p, c.j);
    real *restrict f = at(&w->array[NW_STAGE_F1 + axis], c.p, c.j);
    ptrdiff_t l = w->view->n[2];
    struct around a;

    around_face(&a, &w->from, c, axis);
    if (rule.third)
        around_third(&a, &w->from.x, c, axis);
    NW_VECTOR
    for (ptrdiff_t k = 0; k < l; k++) {
        v[k] = face_velocity(&a, k, rule);
        f[k] = through(a.x[0][k], a.x[1][k], v[k], rule.gauge);
    }
    if (axis == 2 && w->view->open[2][0])
        v[-1] = face_velocity(&a, -1, rule);
    velocity_ends(w, v);
    if (axis == 2)
        f[-1] = through(a.x[0][-1], a.x[1][-1], v[-1], rule.gauge);
}

NW_INLINE void corrective_axis(const struct stages_work *w, struct cell c,
                               int axis)
{
    const struct nw_mpdata_view *v = w->view;

    if (v->fast)
        corrective(w, c, axis,
                   (struct rule){true, v->gauge, v->divergent, v->third});
    else
        corrective(w, c, axis,
                   (struct rule){false, v->gauge, v->divergent, v->third});
}

/* Stages 7 to 9 compute antidiffusive velocities and their fluxes. */
static void stage_7(const struct stages_work *w, struct cell c)
{
    corrective_axis(w, c, 0);
}

static void stage_8(const struct stages_work *w, struct cell c)
{
    corrective_axis(w, c, 1);
}

static void stage_9(const struct stages_work *w, struct cell c)
{
    corrective_axis(w, c, 2);
}

/* Stage 10 computes the maximum of x and x* over a cell and its neighbours. In
 * later passes, values of earlier passes do not count as bounds (libmpdata++,
 * mpdata_fct_2d.hpp). */
static void stage_10(const struct stages_work *w, struct cell c)
{
    struct star x = star_at(&w->from.x, c);
    const real *before = at(&w->array[NW_STAGE_MX0], c.p, c.j);
    real *restrict mx = at(&w->array[NW_STAGE_MX], c.p, c.j);
    ptrdiff_t l = w->view->n[2];

    NW_VECTOR
    for (ptrdiff_t k = 0; k < l; k++)
        mx[k] = most(before[k], star_most(&x, k));
}

/* Stage 11 computes the minimum of x and x* over a cell and its neighbours. */
static void stage_11(const struct stages_work *w, struct cell c)
{
    struct star x = star_at(&w->from.x, c);
    const real *before = at(&w->array[NW_STAGE_MN0], c.p, c.j);
    real *restrict mn = at(&w->array[NW_STAGE_MN], c.p, c.j);
    ptrdiff_t l = w->view->n[2];

    NW_VECTOR
    for (ptrdiff_t k = 0; k < l; k++)
        mn[k] = least(before[k], star_least(&x, k));
}

/* Stage 12 computes which fraction of its inflow a cell may gain. */
static void stage_12(const struct stages_work *w, struct cell c)
{
    struct faces f = faces_at(&w->array[NW_STAGE_F1], c);
    const real *x = at(&w->from.x, c.p, c.j), *h = at(&w->from.h, c.p, c.j);
    const real *mx = at(&w->array[NW_STAGE_MX], c.p, c.j);
    real *restrict cp = at(&w->array[NW_STAGE_CP], c.p, c.j);
    ptrdiff_t l = w->view->n[2];

    NW_VECTOR
    for (ptrdiff_t k = 0; k < l; k++)
        cp[k] = ratio((mx[k] - x[k]) * h[k], flow_in(&f, k));
}

/* Stage 13 computes which fraction of its outflow a cell may lose. */
static void stage_13(const struct stages_work *w, struct cell c)
{
    struct faces f = faces_at(&w->array[NW_STAGE_F1], c);
    const real *x = at(&w->from.x, c.p, c.j), *h = at(&w->from.h, c.p, c.j);
    const real *mn = at(&w->array[NW_STAGE_MN], c.p, c.j);
    real *restrict cn = at(&w->array[NW_STAGE_CN], c.p, c.j);
    ptrdiff_t l = w->view->n[2];

    NW_VECTOR
    for (ptrdiff_t k = 0; k < l; k++)
        cn[k] = ratio((x[k] - mn[k]) * h[k], flow_out(&f, k));
}

/* Limits the fluxes of a row. A further pass starts from the velocities before
 * limiting. */
NW_INLINE void limited_flux(const struct stages_work *w, struct cell c,
                            int axis)
{
    const int unit[3] = {axis == 0, axis == 1, axis == 2};
    const struct stack *cps = &w->array[NW_STAGE_CP];
    const struct stack *cns = &w->array[NW_STAGE_CN];
    const real *cp = at(cps, c.p, c.j), *next_cp = near(cps, c, unit);
    const real *cn = at(cns, c.p, c.j), *next_cn = near(cns, c, unit);
    real *f = at(&w->array[NW_STAGE_F1 + axis], c.p, c.j);
    ptrdiff_t l = w->view->n[2];

    NW_VECTOR
    for (ptrdiff_t k = row_begin(axis); k < l; k++)
        f[k] = limit(f[k], cp[k], next_cp[k], cn[k], next_cn[k]);
}

/* Stages 14 to 16 limit the fluxes. */
static void stage_14(const struct stages_work *w, struct cell c)
{
    limited_flux(w, c, 0);
}

static void stage_15(const struct stages_work *w, struct cell c)
{
    limited_flux(w, c, 1);
}

static void stage_16(const struct stages_work *w, struct cell c)
{
    limited_flux(w, c, 2);
}

/* Stage 17 computes the new x in the last pass, and the x* of the next pass in
 * the others. */
static void stage_17(const struct stages_work *w, struct cell c)
{
    const real *x = at(&w->from.x, c.p, c.j);

    update(w, c, x, at(&w->out, c.p, c.j));
    row_ends(w->view, at(&w->out, c.p, c.j), 2);
}

static void first_pass(struct stages_work *w)
{
    stages_sweep(w, 0, stage_1);
    stages_sweep(w, 1, stage_2);
    stages_sweep(w, 2, stage_3);
    if (w->view->limited) {
        stages_sweep(w, -1, stage_4);
        stages_sweep(w, -1, stage_5);
    }
    stages_sweep(w, -1, stage_6);
    stages_edges(w, NW_STAGE_XS);
}

static void stages_limiter(struct stages_work *w)
{
    stages_sweep(w, -1, stage_10);
    stages_sweep(w, -1, stage_11);
    stages_sweep(w, -1, stage_12);
    stages_sweep(w, -1, stage_13);
    stages_edges(w, NW_STAGE_CP);
    stages_edges(w, NW_STAGE_CN);
    w->margin--;
    stages_sweep(w, 0, stage_14);
    stages_sweep(w, 1, stage_15);
    stages_sweep(w, 2, stage_16);
}

static void corrective_pass(struct stages_work *w)
{
    w->margin -= w->view->third ? 2 : 1;
    stages_sweep(w, 0, stage_7);
    stages_sweep(w, 1, stage_8);
    stages_sweep(w, 2, stage_9);
    if (w->view->limited)
        stages_limiter(w);
    stages_sweep(w, -1, stage_17);
}

static struct stages_work work_of(const struct nw_mpdata_view *view)
{
    struct stages_work w = {.view = view,
                            .x = whole(view, view->x),
                            .out = whole(view, view->out),
                            .margin = view->ghost - 1};

    w.from.h = whole(view, view->h);
    for (int a = 0; a < 3; a++)
        w.from.u[a] = whole(view, view->u[a]);
    for (int i = 0; i < NW_STAGE_COUNT; i++)
        w.array[i] = whole(view, view->stage[i]);
    return w;
}

void NW_NAME(nw_mpdata_stages)(const struct nw_mpdata_view *view)
{
    struct stages_work w = work_of(view);
    struct stack xs = w.array[NW_STAGE_XS];

    first_pass(&w);
    for (int32_t pass = 2; pass <= view->passes; pass++) {
        w.from.x = xs;
        w.v = &w.array[pass % 2 ? NW_STAGE_W1 : NW_STAGE_V1];
        w.out = pass == view->passes ? whole(view, view->out) : xs;
        corrective_pass(&w);
        if (pass < view->passes)
            stages_edges(&w, NW_STAGE_XS);
        for (int a = 0; a < 3; a++)
            w.from.u[a] = w.v[a];
    }
    if (view->passes > 1)
        return;
    for (ptrdiff_t p = 0; p < view->n[0]; p++)
        for (ptrdiff_t j = 0; j < view->n[1]; j++) {
            memcpy(at(&w.out, p, j), at(&xs, p, j),
                   (size_t)view->n[2] * sizeof(real));
            row_ends(view, at(&w.out, p, j), 2);
        }
}

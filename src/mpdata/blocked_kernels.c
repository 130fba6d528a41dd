/* SPDX-License-Identifier: BSD-3-Clause */
/* The production solver, which uses (3+1)D blocking. A block consists of some
 * rows of all planes, or of consecutive planes. It is computed row by row, with
 * all stages at once; each stage is one row and one plane behind the stage
 * whose results it reads. The data between the stages is kept in ring buffers
 * of two or four planes, which fit into the cache. Blocks share only the fields
 * of the previous step, so that threads synchronise only at the end of a step.
 */
#define NW_LANES_WANTED
#include "mpdata/stages.h"
#include "mpdata/rows.h"
#include "mpdata/faces.h"

/* The ring buffers: x* (the result of the donor-cell step), the fluxes through
 * the faces of each axis, and the limiter's ratios for gain and loss. */
enum ring { XS, F1, F2, F3, CP, CN, RINGS };

/* Number of planes of each ring buffer, a power of two. A ring buffer holds the
 * planes from the newest one, which is written, back to the oldest one that is
 * still read. */
static const ptrdiff_t depth[RINGS] = {4, 4, 2, 2, 2, 2};
enum { DEPTH = 16 }; /* planes of all ring buffers together */

/* A block of rows low[1] to high[1] - 1 of planes low[0] to high[0] - 1. */
struct block {
    const struct nw_mpdata_view *view;
    struct sources from; /* inputs of the corrective fluxes; its x is the
                            ring buffer of x* */
    struct stack x, out, ring[RINGS];
    ptrdiff_t low[2], high[2];
    ptrdiff_t edge; /* number of cells outside the block whose ratios are
                       needed: 1 if fluxes are limited, else 0 */
};

static ptrdiff_t ring_rows(ptrdiff_t rows)
{
    return rows + 6;
}

/* Returns the number of elements of one plane of a ring buffer. It is not a
 * power of two, since planes would then conflict in the cache. */
static ptrdiff_t ring_plane(const struct nw_mpdata_view *view, ptrdiff_t rows)
{
    ptrdiff_t line = NW_MPDATA_LINE / (ptrdiff_t)sizeof(real);

    return ring_rows(rows) * view->pitch + 5 * line;
}

static size_t scratch_bytes(const struct nw_mpdata_view *view, ptrdiff_t rows)
{
    return (size_t)(DEPTH * ring_plane(view, rows)) * sizeof(real);
}

/* Limit an index of planes (axis 0) or rows (axis 1) to those of the grid if
 * the side is open. On other sides, planes and rows go on as ghosts, and the
 * index is unchanged. */
static ptrdiff_t clip_low(const struct block *b, int axis, ptrdiff_t value)
{
    return b->view->open[axis][0] && value < 0 ? 0 : value;
}

static ptrdiff_t clip_high(const struct block *b, int axis, ptrdiff_t value)
{
    ptrdiff_t n = b->view->n[axis];
    return b->view->open[axis][1] && value > n ? n : value;
}

/* Returns true if plane p is beyond an open side. */
static bool blocked_kernels_beyond(const struct block *b, ptrdiff_t p)
{
    return clip_low(b, 0, p) != p || clip_high(b, 0, p + 1) != p + 1;
}

/* Returns true if a row or plane is the last one before an open side, so that
 * its values are copied beyond that side. */
static bool has_copy(const struct block *b, int axis, int side, ptrdiff_t at)
{
    return b->view->open[axis][side] && at == (side ? b->view->n[axis] - 1 : 0);
}

/* Fills one ghost cell at each end of a computed row. If the row is the last
 * one before an open side, also copies it to the row beyond that side. Copies
 * beyond the side above the last plane are made only if `above` is true. */
static void blocked_spread(const struct block *b, const struct stack *s,
                           struct cell c, bool above)
{
    const real *row = at(s, c.p, c.j);

    row_ends(b->view, at(s, c.p, c.j), 1);
    for (int up = -1; up <= above; up++)
        for (int side = -1; side <= 1; side++) {
            if (!up && !side)
                continue;
            if (up && !has_copy(b, 0, up > 0, c.p))
                continue;
            if (side && !has_copy(b, 1, side > 0, c.j))
                continue;
            row_copy(b->view, at(s, c.p + up, c.j + side), row);
        }
}

/* Prefetches a row that the next plane needs, while this plane is computed. */
static void blocked_fetch(const struct block *b, const struct stack *s,
                          struct cell c)
{
    const real *row = at(s, c.p, c.j);

    for (ptrdiff_t k = 0; k < b->view->n[2]; k += 64 / (ptrdiff_t)sizeof(real))
        __builtin_prefetch(row + k, 0, 2);
}

/* Computes a row of cells by a donor-cell step from the old x, and writes it to
 * `out`. */
static void guess_row(const struct block *b, struct cell c, real *restrict out)
{
    const struct stack *x = &b->x, *u = b->from.u;
    const real *const xs[5] = {
        at(x, c.p, c.j),     at(x, c.p - 1, c.j), at(x, c.p + 1, c.j),
        at(x, c.p, c.j - 1), at(x, c.p, c.j + 1),
    };
    const real *const us[5] = {
        at(&u[0], c.p - 1, c.j), at(&u[0], c.p, c.j), at(&u[1], c.p, c.j - 1),
        at(&u[1], c.p, c.j),     at(&u[2], c.p, c.j),
    };
    const real *h = at(&b->from.h, c.p, c.j);
    ptrdiff_t l = b->view->n[2];

    NW_VECTOR
    for (ptrdiff_t k = 0; k < l; k += NW_LANES)
        put(out, k, donor_cell(xs, us, h, k));
}

/* Computes a row of x* in its ring buffer by a donor-cell step. */
static void blocked_kernels_guess(const struct block *b, struct cell c)
{
    if (blocked_kernels_beyond(b, c.p)) // a row beyond an open side is a copy
        return;
    blocked_fetch(b, &b->x, (struct cell){c.p + 2, c.j});
    blocked_fetch(b, &b->from.h, (struct cell){c.p + 1, c.j});
    guess_row(b, c, at(&b->ring[XS], c.p, c.j));
    blocked_spread(b, &b->ring[XS], c, true);
}

/* Computes the corrective fluxes through the upper faces of a row for the axes
 * that `which` selects. Along the contiguous axis, also computes the flux below
 * the row's first cell. */
static void flux_row(const struct block *b, struct cell c, int which)
{
    const struct nw_mpdata_view *v = b->view;
    real *f3 = at(&b->ring[F3], c.p, c.j);
    struct flux_row row = {&b->from, &b->ring[F1], c, which, 0, v->n[2]};

    flux_span(&row, v);
    if (!(which & FACE_3))
        return;
    f3[-1] = f3[row.end - 1];
    if (!v->open[2][0])
        return;
    row.which = FACE_3;
    row.begin = -1;
    row.end = 0;
    flux_span(&row, v);
}

/* Computes for each cell of a row which fraction of its inflow it may gain and
 * which fraction of its outflow it may lose. */
static void ratio_row(const struct block *b, struct cell c)
{
    struct star old = star_at(&b->x, c), new = star_at(&b->ring[XS], c);
    struct faces f = faces_at(&b->ring[F1], c);
    const real *h = at(&b->from.h, c.p, c.j);
    real *restrict cp = at(&b->ring[CP], c.p, c.j);
    real *restrict cn = at(&b->ring[CN], c.p, c.j);
    ptrdiff_t l = b->view->n[2];

    NW_VECTOR
    for (ptrdiff_t k = 0; k < l; k += NW_LANES) {
        val mx = most(star_most(&old, k), star_most(&new, k));
        val mn = least(star_least(&old, k), star_least(&new, k));
        val x = get(new.x, k), g = get(h, k);
        put(cp, k, ratio((mx - x) * g, flow_in(&f, k)));
        put(cn, k, ratio((x - mn) * g, flow_out(&f, k)));
    }
    blocked_spread(b, &b->ring[CP], c, false);
    blocked_spread(b, &b->ring[CN], c, false);
}

/* Computes the new x of a row from fluxes that are not limited. */
static void plain_row(const struct block *b, struct cell c)
{
    struct faces f = faces_at(&b->ring[F1], c);
    const real *x = at(&b->ring[XS], c.p, c.j), *h = at(&b->from.h, c.p, c.j);
    real *restrict out = at(&b->out, c.p, c.j);
    ptrdiff_t l = b->view->n[2];

    NW_VECTOR
    for (ptrdiff_t k = 0; k < l; k += NW_LANES)
        put(out, k, get(x, k) - flow_net(&f, k) / get(h, k));
    row_ends(b->view, out, 2);
}

/* Limits, in place, the fluxes through the upper faces of the cells of a row
 * along an axis. */
static void limit_row(const struct block *b, struct cell c, int axis)
{
    const int unit[3] = {axis == 0, axis == 1, axis == 2};
    const struct stack *p = &b->ring[CP], *n = &b->ring[CN];
    const real *cp = at(p, c.p, c.j), *next_cp = near(p, c, unit);
    const real *cn = at(n, c.p, c.j), *next_cn = near(n, c, unit);
    real *f = at(&b->ring[F1 + axis], c.p, c.j);
    ptrdiff_t l = b->view->n[2];

    NW_VECTOR
    for (ptrdiff_t k = 0; k < l; k += NW_LANES)
        put(f, k,
            limit(get(f, k), get(cp, k), get(next_cp, k), get(cn, k),
                  get(next_cn, k)));
}

/* Returns the limited flux through the upper face of a cell along the
 * contiguous axis. */
NW_INLINE val limited_3(const real *f, const real *cp, const real *cn,
                        ptrdiff_t k)
{
    return limit(get(f, k), get(cp, k), get(cp, k + 1), get(cn, k),
                 get(cn, k + 1));
}

/* Computes the new x of a row from limited fluxes. Each flux is limited only
 * once. The fluxes through the lower faces along axes 0 and 1 are already
 * limited, in place. Along the row, each vector reuses the limited fluxes of
 * the vector before it. */
static void limited_row(const struct block *b, struct cell c)
{
    struct star p = star_at(&b->ring[CP], c), n = star_at(&b->ring[CN], c);
    struct faces f = faces_at(&b->ring[F1], c);
    const real *x = at(&b->ring[XS], c.p, c.j), *h = at(&b->from.h, c.p, c.j);
    real *high1 = at(&b->ring[F1], c.p, c.j);
    real *high2 = at(&b->ring[F2], c.p, c.j);
    real *restrict out = at(&b->out, c.p, c.j);
    ptrdiff_t l = b->view->n[2];
    val last = limited_3(f.f3, p.x, n.x, -NW_LANES);

    NW_VECTOR
    for (ptrdiff_t k = 0; k < l; k += NW_LANES) {
        val cp = get(p.x, k), cn = get(n.x, k);
        val f1 = limit(get(high1, k), cp, get(p.high1, k), cn, get(n.high1, k));
        val f2 = limit(get(high2, k), cp, get(p.high2, k), cn, get(n.high2, k));
        val f3 = limited_3(f.f3, p.x, n.x, k);
        val low3 =
            NW_LANES > 1 ? before(last, f3) : limited_3(f.f3, p.x, n.x, k - 1);
        val net = (f1 - get(f.f1[0], k)) + (f2 - get(f.f2[0], k)) + (f3 - low3);
        last = f3;
        put(high1, k, f1);
        put(high2, k, f2);
        put(out, k, get(x, k) - net / get(h, k));
    }
    row_ends(b->view, out, 2);
}

/* Computes the fluxes through the upper faces of a row along each axis, then
 * the ratios that need them. For a row or plane just below those that need all
 * fluxes, computes only the fluxes through the faces between the two. */
static void blocked_kernels_correct(const struct block *b, struct cell c)
{
    ptrdiff_t low = clip_low(b, 1, b->low[1] - b->edge);
    ptrdiff_t end = clip_high(b, 1, b->high[1] + b->edge);
    bool cells = !blocked_kernels_beyond(b, c.p);

    if (c.j < low - 1 || c.j >= end)
        return;
    /* the face on an open side is computed, too */
    int which = c.j >= low && (cells || !blocked_kernels_beyond(b, c.p + 1))
                    ? FACE_1
                    : 0;
    if (cells && c.p >= b->low[0] - b->edge)
        which |= c.j >= low ? FACE_2 | FACE_3 : FACE_2;
    /* prefetch for the donor-cell step of the next plane */
    for (int a = 0; a < 3; a++)
        blocked_fetch(b, &b->from.u[a], (struct cell){c.p + 2, c.j});
    flux_row(b, c, which);
    if (b->edge && which & FACE_3)
        ratio_row(b, c);
    if (b->edge &&
        has_copy(b, 0, 1, c.p - 1)) // the ratios of plane p - 1 are complete
        for (int i = CP; i <= CN; i++)
            row_copy(b->view, at(&b->ring[i], c.p, c.j),
                     at(&b->ring[i], c.p - 1, c.j));
}

/* Computes the new x of a row. For a row in the plane below the block, or the
 * row below it in one of its planes, only limits the fluxes through the faces
 * that the row shares with the block, if fluxes are limited. */
static void blocked_finish(const struct block *b, struct cell c)
{
    bool inside = c.p >= b->low[0], row_inside = c.j >= b->low[1];

    if (c.p < b->low[0] - 1 || c.j < b->low[1] - 1 || c.j >= b->high[1])
        return;
    if (inside && row_inside) {
        blocked_fetch(b, &b->out, (struct cell){c.p + 1, c.j});
        if (b->view->limited)
            limited_row(b, c);
        else
            plain_row(b, c);
    } else if (b->view->limited && (inside || row_inside)) {
        limit_row(b, c, inside ? 1 : 0);
    }
}

/* Computes a block with a corrective pass, row by row, with each stage one row
 * and one plane behind the stage that it reads. */
static void blocked_kernels_corrected(const struct block *b)
{
    ptrdiff_t e = b->edge, first = b->low[0], last = b->high[0];
    ptrdiff_t low = clip_low(b, 1, b->low[1] - e - 1);
    ptrdiff_t end = clip_high(b, 1, b->high[1] + e + 1);
    ptrdiff_t rows = clip_high(b, 1, b->high[1] + e);

    for (ptrdiff_t p = first - 1 - e; p <= last + e; p++)
        for (ptrdiff_t j = low; j <= rows; j++) {
            if (j < end)
                blocked_kernels_guess(b, (struct cell){p, j});
            if (p < first - e)
                continue;
            blocked_kernels_correct(b, (struct cell){p - 1, j - 1});
            blocked_finish(b, (struct cell){p - 1 - e, j - 1});
        }
}

/* Computes a block with the donor-cell step only. */
static void donor_only(const struct block *b)
{
    for (ptrdiff_t p = b->low[0]; p < b->high[0]; p++)
        for (ptrdiff_t j = b->low[1]; j < b->high[1]; j++) {
            guess_row(b, (struct cell){p, j}, at(&b->out, p, j));
            row_ends(b->view, at(&b->out, p, j), 2);
        }
}

static void blocked_kernels_blocked(const struct nw_mpdata_view *view,
                                    const struct nw_mpdata_box *box,
                                    void *scratch)
{
    ptrdiff_t plane = ring_plane(view, box->high[1] - box->low[1]);
    real *base = (real *)scratch + NW_MPDATA_LINE / sizeof(real);
    struct block b = {
        .view = view,
        .x = whole(view, view->x),
        .out = whole(view, view->out),
        .low = {box->low[0], box->low[1]},
        .high = {box->high[0], box->high[1]},
        .edge = view->limited,
    };

    for (int i = 0; i < RINGS; base += depth[i++] * plane)
        b.ring[i] = (struct stack){
            .base = base,
            .mask = depth[i] - 1,
            .plane = plane,
            .pitch = view->pitch,
            .first = box->low[1] - 3,
        };
    b.from = (struct sources){.x = b.ring[XS], .h = whole(view, view->h)};
    for (int a = 0; a < 3; a++)
        b.from.u[a] = whole(view, view->u[a]);
    if (view->passes == 1)
        donor_only(&b);
    else
        blocked_kernels_corrected(&b);
}

extern const struct nw_mpdata_kernels NW_NAME(nw_mpdata_kernels);
const struct nw_mpdata_kernels NW_NAME(nw_mpdata_kernels) = {
    .blocked = blocked_kernels_blocked,
    .scratch_bytes = scratch_bytes,
    .stages = NW_NAME(nw_mpdata_stages),
};

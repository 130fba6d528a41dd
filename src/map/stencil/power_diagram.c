/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes compact parts of given sizes by a power diagram; see
 * power_diagram.h. */
#include "map/stencil/power_diagram.h"
#include "base/array.h"
#include "base/parallel.h"
#include "map/common/simd4.h"
#include "map/common/parameters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FAR 1e30F /* larger than any real cost */

/* State of the computation. */
struct power_diagram_work {
    const struct nw_power_diagram *round;
    bool rings;    /* a dimension is periodic */
    size_t wide;   /* number of parts, rounded up to whole SIMD vectors */
    double radius; /* approximate radius of a part, in the unit of the
                      coordinates */
    float *center[NW_STENCIL_DIMS]; /* [wide] center of each part */
    float *power;                   /* [wide] power of each part */
    double *sum; /* [parts] sum, over the points of a part, of the differences
                    of one coordinate from its center */
    int32_t *size, *target; /* [parts] size: present number of points; target:
                               wanted number */
    /* [parts][wide] least increase of cost if one point moves from one part to
     * another */
    float *cost;
    float *displacement; /* [parts] least cost of moving one point along a chain
                            of parts to this part */
    int32_t *from;       /* [parts] part before this one in the chain; -1:
                            none */
    int32_t *first;      /* [parts] first point in the list of a part; -1:
                            none */
    int32_t *after;      /* [n] next point in the list of the same part; -1:
                            none */
    struct power_diagram_offer *offer; /* [n] scratch for sorting points */
    struct nw_random random;
};

/* --- the nearest center --- */

/* Returns the absolute values of four differences of coordinates. If ring > 0,
 * the dimension is periodic with that length, and the shorter way around
 * counts. */
static inline nw_simd4 power_diagram_around(nw_simd4 off, float ring)
{
    nw_simd4 zero = {0, 0, 0, 0};
    nw_simd4 size = zero - nw_simd4_min(off, zero - off);
    nw_simd4 other = ring - size;

    return ring > 0 ? nw_simd4_min(size, other) : size;
}

/* Returns the squares of four differences of coordinates. If `rings` is false,
 * no dimension is periodic and `ring` is not used. */
static inline nw_simd4 power_diagram_square(nw_simd4 off, float ring,
                                            bool rings)
{
    if (rings)
        off = power_diagram_around(off, ring);
    return off * off;
}

/* Puts four points, from number `first` on, into the part with the nearest
 * center: the one with the least squared distance minus power. */
static inline void
power_diagram_find_nearest(const struct power_diagram_work *work, int32_t first,
                           int dims, bool rings)
{
    const struct nw_power_diagram *round = work->round;
    nw_simd4 least = {FAR, FAR, FAR, FAR}, at[NW_STENCIL_DIMS];
    nw_simd4_mask best = {0, 0, 0, 0};

    for (int d = 0; d < dims; d++)
        at[d] = *(const nw_simd4 *)(round->at[d] + first);
    for (int32_t p = 0; p < round->parts; p++) {
        nw_simd4 now = power_diagram_square(at[0] - work->center[0][p],
                                            round->ring[0], rings);
        nw_simd4_mask less;

#pragma GCC unroll 4
        for (int d = 1; d < dims; d++)
            now += power_diagram_square(at[d] - work->center[d][p],
                                        round->ring[d], rings);
        now -= work->power[p];
        less = now < least;
        best = (best & ~less) | (p & less);
        least = nw_simd4_min(now, least);
    }
    for (int i = 0; i < NW_SIMD4_WIDTH; i++)
        round->part[first + i] = best[i];
}

/* Puts points first .. end - 1 into the parts with the nearest centers. Callers
 * pass constants as `dims` and `rings` where possible, so that the compiler
 * unrolls the inner loop. */
static inline void
power_diagram_find_some(const struct power_diagram_work *work, int32_t first,
                        int32_t end, int dims, bool rings)
{
    for (int32_t i = first; i < end; i += NW_SIMD4_WIDTH)
        power_diagram_find_nearest(work, i, dims, rings);
}

/* Puts the points of range `number` into the parts with the nearest centers; a
 * task for threads. If the points do not fill the last vector, that vector
 * overlaps the one before. */
static void power_diagram_find_share(void *user, int32_t number)
{
    const struct power_diagram_work *work = user;
    int32_t n = work->round->n, dims = work->round->dims;
    struct nw_parallel_range share =
        nw_parallel_range(n / NW_SIMD4_WIDTH, number);
    int32_t first = (int32_t)share.first * NW_SIMD4_WIDTH;
    int32_t end = (int32_t)share.end * NW_SIMD4_WIDTH;

    if (work->rings)
        power_diagram_find_some(work, first, end, dims, true);
    else if (dims == 2)
        power_diagram_find_some(work, first, end, 2, false);
    else if (dims == 3)
        power_diagram_find_some(work, first, end, 3, false);
    else
        power_diagram_find_some(work, first, end, dims, false);
    if (number == NW_PARALLEL_RANGES - 1 && end < n)
        power_diagram_find_nearest(work, n - NW_SIMD4_WIDTH, dims, true);
}

/* Puts each point into the part with the nearest center and counts the points
 * of each part. */
static void power_diagram_distribute(struct power_diagram_work *work)
{
    const struct nw_power_diagram *round = work->round;
    double look = (double)round->n * round->parts;

    nw_parallel_run(power_diagram_find_share, work, NW_PARALLEL_RANGES,
                    look < (double)nw_tuned.threads.edges_min ? 1
                                                              : round->threads);
    memset(work->size, 0, (size_t)round->parts * sizeof *work->size);
    for (int32_t i = 0; i < round->n; i++)
        work->size[round->part[i]]++;
}

/* --- centers of the parts --- */

/* Returns the difference between `at`, a value of coordinate d, and the center
 * of part p, the shorter way around if the dimension is periodic. */
static float power_diagram_offset(const struct power_diagram_work *work, int d,
                                  float at, int32_t p)
{
    float off = at - work->center[d][p], ring = work->round->ring[d];

    if (off > ring / 2 && ring > 0)
        return off - ring;
    return off < -ring / 2 && ring > 0 ? off + ring : off;
}

/* Moves each center to the mean of its points. If shaken > 0, also shifts it at
 * random in each dimension, by at most half of `shaken` times the radius of a
 * part. */
static void power_diagram_move_centers(struct power_diagram_work *work,
                                       double shaken)
{
    const struct nw_power_diagram *round = work->round;

    for (int d = 0; d < round->dims; d++) {
        memset(work->sum, 0, (size_t)round->parts * sizeof *work->sum);
        for (int32_t i = 0; i < round->n; i++)
            work->sum[round->part[i]] += (double)power_diagram_offset(
                work, d, round->at[d][i], round->part[i]);
        for (int32_t p = 0; p < round->parts; p++) {
            double go = work->size[p] ? work->sum[p] / work->size[p] : 0;

            if (shaken > 0)
                go += shaken * work->radius *
                      (nw_random_unit(&work->random) - 0.5);
            work->center[d][p] += (float)go;
        }
    }
}

/* Changes the powers: raises those of parts with too few points, which makes
 * them grow, and lowers those of parts with too many. */
static void power_diagram_change_powers(struct power_diagram_work *work)
{
    double area = work->radius * work->radius;

    for (int32_t p = 0; p < work->round->parts; p++) {
        double off =
            (double)(work->target[p] - work->size[p]) / work->target[p];

        work->power[p] += (float)(nw_tuned.tiling.power_step * area *
                                  fmax(-0.5, fmin(0.5, off)));
    }
}

/* --- exact sizes --- */

/* A point of a part, and the increase of cost if it moves to another part. */
struct power_diagram_offer {
    float cost;
    int32_t point;
};

/* Puts point i at the beginning of the list of part p, and sets its part to p.
 */
static void power_diagram_assign(struct power_diagram_work *work, int32_t i,
                                 int32_t p)
{
    work->round->part[i] = p;
    work->after[i] = work->first[p];
    work->first[p] = i;
}

/* Returns the cost of point i in part p: its squared distance from the center,
 * minus the power. */
static float power_diagram_cost_of(const struct power_diagram_work *work,
                                   int32_t i, int32_t p)
{
    float sum = -work->power[p];

    for (int d = 0; d < work->round->dims; d++) {
        float off = power_diagram_offset(work, d, work->round->at[d][i], p);

        sum += off * off;
    }
    return sum;
}

/* Lowers cost[q], for each part q, to the increase of cost if point i moves
 * from part p to q, if that is less. */
static void power_diagram_cost_point(const struct power_diagram_work *work,
                                     int32_t i, int32_t p, float *cost)
{
    const struct nw_power_diagram *round = work->round;
    float here = power_diagram_cost_of(work, i, p);

    for (size_t q = 0; q < work->wide; q += NW_SIMD4_WIDTH) {
        nw_simd4 *least = (nw_simd4 *)(cost + q);
        nw_simd4 now = -*(const nw_simd4 *)(work->power + q) - here;

        for (int d = 0; d < round->dims; d++)
            now += power_diagram_square(
                round->at[d][i] - *(const nw_simd4 *)(work->center[d] + q),
                round->ring[d], true);
        *least = nw_simd4_min(now, *least);
    }
}

/* Computes, for each other part, the least increase of cost if one point moves
 * there from part p. */
static void power_diagram_cost_part(struct power_diagram_work *work, int32_t p)
{
    float *cost = work->cost + (size_t)p * work->wide;

    for (size_t q = 0; q < work->wide; q++)
        cost[q] = FAR;
    for (int32_t i = work->first[p]; i >= 0; i = work->after[i])
        power_diagram_cost_point(work, i, p, cost);
    for (size_t q = 0; q < work->wide; q++)
        cost[q] = cost[q] > 0 ? cost[q] : 0;
}

/* Finds the cheapest chain of parts along which one point each moves to the
 * next part, from a part that is too large to one that is too small. Stores the
 * chain in from[] and returns its last part; -1: no part is too small. */
static int32_t power_diagram_displacement(struct power_diagram_work *work)
{
    int32_t parts = work->round->parts, best = -1;
    bool changed = true;

    for (int32_t p = 0; p < parts; p++) {
        work->displacement[p] = work->size[p] > work->target[p] ? 0 : FAR;
        work->from[p] = -1;
    }
    while (changed) {
        changed = false;
        for (int32_t p = 0; p < parts; p++) {
            const float *cost = work->cost + (size_t)p * work->wide;

            for (int32_t q = 0; work->displacement[p] < FAR && q < parts; q++)
                if (work->displacement[p] + cost[q] < work->displacement[q]) {
                    work->displacement[q] = work->displacement[p] + cost[q];
                    work->from[q] = p;
                    changed = true;
                }
        }
    }
    for (int32_t p = 0; p < parts; p++)
        if (work->size[p] < work->target[p] &&
            (best < 0 || work->displacement[p] < work->displacement[best]))
            best = p;
    return best;
}

static int power_diagram_by_cost(const void *left, const void *right)
{
    const struct power_diagram_offer *a = left, *b = right;

    if (a->cost < b->cost || a->cost > b->cost)
        return a->cost < b->cost ? -1 : 1;
    return (a->point > b->point) - (a->point < b->point);
}

/* Moves `amount` points from part p to part q: those whose move increases the
 * cost least. */
static void power_diagram_give(struct power_diagram_work *work, int32_t p,
                               int32_t q, int32_t amount)
{
    struct power_diagram_offer *offer = work->offer;
    int32_t count = 0;

    for (int32_t i = work->first[p]; i >= 0; i = work->after[i])
        offer[count++] =
            (struct power_diagram_offer){power_diagram_cost_of(work, i, q) -
                                             power_diagram_cost_of(work, i, p),
                                         i};
    qsort(offer, (size_t)count, sizeof *offer, power_diagram_by_cost);
    work->first[p] = -1;
    for (int32_t k = 0; k < count; k++)
        power_diagram_assign(work, offer[k].point, k < amount ? q : p);
    work->size[p] -= amount;
    work->size[q] += amount;
}

/* Returns how many points to move along the chain that ends at part `to`. The
 * result is half of the largest possible number, because the costs change
 * afterwards. The largest possible number is reached when the first or the last
 * part has its wanted size, or when another part has one point left. */
static int32_t power_diagram_amount_of(const struct power_diagram_work *work,
                                       int32_t to)
{
    int32_t amount = work->target[to] - work->size[to], p = to;

    for (; work->from[p] >= 0; p = work->from[p])
        if (work->size[work->from[p]] <= amount)
            amount = work->size[work->from[p]] - 1;
    if (amount > work->size[p] - work->target[p])
        amount = work->size[p] - work->target[p];
    return amount > 1 ? amount / 2 : 1;
}

/* Moves points along the cheapest chains until all parts have their wanted
 * sizes. */
static void power_diagram_even_out(struct power_diagram_work *work)
{
    int32_t to;

    for (int32_t p = 0; p < work->round->parts; p++)
        work->first[p] = -1;
    for (int32_t i = 0; i < work->round->n; i++)
        power_diagram_assign(work, i, work->round->part[i]);
    for (int32_t p = 0; p < work->round->parts; p++)
        power_diagram_cost_part(work, p);
    while ((to = power_diagram_displacement(work)) >= 0 &&
           work->from[to] >= 0) {
        int32_t amount = power_diagram_amount_of(work, to);

        for (int32_t p; (p = work->from[to]) >= 0; to = p) {
            power_diagram_give(work, p, to, amount);
            power_diagram_cost_part(work, to);
        }
        power_diagram_cost_part(work, to);
    }
}

/* --- the whole search --- */

/* Allocates the arrays. */
static nw_status power_diagram_alloc(struct power_diagram_work *work)
{
    size_t parts = (size_t)work->round->parts, wide = work->wide;
    size_t n = (size_t)work->round->n;
    nw_status status = NW_ALLOC_ALL(
        NW_ARRAY(wide, work->power), NW_ARRAY(parts, work->sum),
        NW_ARRAY(parts, work->size), NW_ARRAY(parts, work->target),
        NW_ARRAY_RAW(parts * wide, work->cost),
        NW_ARRAY(parts, work->displacement), NW_ARRAY(parts, work->from),
        NW_ARRAY(parts, work->first), NW_ARRAY_RAW(n, work->after),
        NW_ARRAY_RAW(n, work->offer));

    for (int d = 0; !status && d < work->round->dims; d++)
        status = nw_alloc(wide, sizeof *work->center[d], &work->center[d]);
    return status;
}

/* Takes the wanted sizes and the first centers from the parts that the caller
 * gave. The mean of a part is taken relative to one of its points, since
 * absolute coordinates have no mean in a periodic dimension. */
static void power_diagram_begin(struct power_diagram_work *work)
{
    const struct nw_power_diagram *round = work->round;
    double each = (double)round->n / round->parts;

    nw_random_init(&work->random, round->seed);
    work->radius = pow(each, 1.0 / round->dims) / 2;
    for (int d = 0; d < round->dims; d++)
        work->rings |= round->ring[d] > 0;
    for (int32_t i = 0; i < round->n; i++)
        work->target[round->part[i]]++;
    for (size_t p = (size_t)round->parts; p < work->wide; p++)
        work->power[p] = -FAR;
    for (int d = 0; d < round->dims; d++)
        for (int32_t i = 0; i < round->n; i++)
            work->center[d][round->part[i]] = round->at[d][i];
    memcpy(work->size, work->target, (size_t)round->parts * sizeof *work->size);
    power_diagram_move_centers(work, 0);
}

/* Runs the rounds: moves centers, with random shifts that become smaller; then
 * keeps the centers while the powers converge; finally makes the sizes exact.
 */
static void power_diagram_run(struct power_diagram_work *work)
{
    for (int i = 0; i < nw_tuned.tiling.moves; i++) {
        power_diagram_distribute(work);
        power_diagram_move_centers(
            work, 1 - i / (nw_tuned.tiling.jitter * nw_tuned.tiling.moves));
        power_diagram_change_powers(work);
    }
    for (int i = 0; i < nw_tuned.tiling.converged; i++) {
        power_diagram_distribute(work);
        power_diagram_change_powers(work);
    }
    power_diagram_distribute(work);
    power_diagram_even_out(work);
}

nw_status nw_power_diagram(const struct nw_power_diagram *round)
{
    struct power_diagram_work work = {.round = round};
    nw_status status;

    if (round->parts < 2 || round->n < NW_SIMD4_WIDTH)
        return NW_OK;
    work.wide = (size_t)(round->parts + NW_SIMD4_WIDTH - 1) / NW_SIMD4_WIDTH *
                NW_SIMD4_WIDTH;
    status = power_diagram_alloc(&work);
    if (!status) {
        power_diagram_begin(&work);
        power_diagram_run(&work);
    }
    for (int d = 0; d < round->dims; d++)
        free(work.center[d]);
    NW_FREE_ALL(work.power, work.sum, work.size, work.target, work.cost,
                work.displacement, work.from, work.first, work.after,
                work.offer);
    return status;
}

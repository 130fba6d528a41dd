/* SPDX-License-Identifier: BSD-3-Clause */
/* Round parts; see power_diagram.h. */
#include "map/stencil/power_diagram.h"
#include "base/array.h"
#include "base/crew.h"
#include "map/common/simd4.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOVES 40     /* rounds in which centers move */
#define SETTLED 8    /* more, in which they stay */
#define SHAKEN 0.7   /* of the first: they are moved at random, too */
#define ALONE 100000 /* looks in a round that more threads are not worth */
#define PULL 0.7     /* of what a size that is wrong asks for */
#define FAR 1e30F

struct rounding {
    const struct nw_round *round;
    bool rings;
    size_t wide;                 /* parts, in whole lanes */
    double radius;               /* of a part, about */
    float *center[NW_TILE_DIMS]; /* [wide] */
    float *pull;                 /* [wide] */
    double *sum;                 /* [parts] */
    int32_t *size, *target;      /* [parts] */
    float *cost;         /* [parts][wide] least, of moving a point from - to */
    float *way;          /* [parts] cost of all moves up to there */
    int32_t *from;       /* [parts] */
    int32_t *first;      /* [parts] a point of each; -1: none */
    int32_t *after;      /* [n] the next one of the same part */
    struct offer *offer; /* [n] */
    struct nw_random random;
};

/* --- the nearest center --- */

/* The shorter way around a ring. */
static inline nw_lanes around(nw_lanes off, float ring)
{
    nw_lanes zero = {0, 0, 0, 0};
    nw_lanes size = zero - nw_lanes_lesser(off, zero - off);
    nw_lanes other = ring - size;

    return ring > 0 ? nw_lanes_lesser(size, other) : size;
}

static inline nw_lanes square(nw_lanes off, float ring, bool rings)
{
    if (rings)
        off = around(off, ring);
    return off * off;
}

static inline void find_nearest(const struct rounding *work, int32_t first,
                                int dims, bool rings)
{
    const struct nw_round *round = work->round;
    nw_lanes least = {FAR, FAR, FAR, FAR}, at[NW_TILE_DIMS];
    nw_lanes_mask best = {0, 0, 0, 0};

    for (int d = 0; d < dims; d++)
        at[d] = *(const nw_lanes *)(round->at[d] + first);
    for (int32_t p = 0; p < round->parts; p++) {
        nw_lanes now =
            square(at[0] - work->center[0][p], round->ring[0], rings);
        nw_lanes_mask less;

#pragma GCC unroll 4
        for (int d = 1; d < dims; d++)
            now += square(at[d] - work->center[d][p], round->ring[d], rings);
        now -= work->pull[p];
        less = now < least;
        best = (best & ~less) | (p & less);
        least = nw_lanes_lesser(now, least);
    }
    for (int i = 0; i < NW_LANES; i++)
        round->part[first + i] = best[i];
}

static inline void find_some(const struct rounding *work, int32_t first,
                             int32_t end, int dims, bool rings)
{
    for (int32_t i = first; i < end; i += NW_LANES)
        find_nearest(work, i, dims, rings);
}

/* The last points again where they fill no lanes. */
static void find_share(void *user, int32_t number)
{
    const struct rounding *work = user;
    int32_t n = work->round->n, dims = work->round->dims;
    struct nw_crew_part share = nw_crew_part(n / NW_LANES, number);
    int32_t first = (int32_t)share.first * NW_LANES;
    int32_t end = (int32_t)share.end * NW_LANES;

    if (work->rings)
        find_some(work, first, end, dims, true);
    else if (dims == 2)
        find_some(work, first, end, 2, false);
    else if (dims == 3)
        find_some(work, first, end, 3, false);
    else
        find_some(work, first, end, dims, false);
    if (number == NW_CREW_PARTS - 1 && end < n)
        find_nearest(work, n - NW_LANES, dims, true);
}

static void deal(struct rounding *work)
{
    const struct nw_round *round = work->round;
    double look = (double)round->n * round->parts;

    nw_crew_run(find_share, work, NW_CREW_PARTS,
                look < ALONE ? 1 : round->threads);
    memset(work->size, 0, (size_t)round->parts * sizeof *work->size);
    for (int32_t i = 0; i < round->n; i++)
        work->size[round->part[i]]++;
}

/* --- centers --- */

static float offset(const struct rounding *work, int d, float at, int32_t p)
{
    float off = at - work->center[d][p], ring = work->round->ring[d];

    if (off > ring / 2 && ring > 0)
        return off - ring;
    return off < -ring / 2 && ring > 0 ? off + ring : off;
}

static void move_centers(struct rounding *work, double shaken)
{
    const struct nw_round *round = work->round;

    for (int d = 0; d < round->dims; d++) {
        memset(work->sum, 0, (size_t)round->parts * sizeof *work->sum);
        for (int32_t i = 0; i < round->n; i++)
            work->sum[round->part[i]] +=
                (double)offset(work, d, round->at[d][i], round->part[i]);
        for (int32_t p = 0; p < round->parts; p++) {
            double go = work->size[p] ? work->sum[p] / work->size[p] : 0;

            if (shaken > 0)
                go += shaken * work->radius *
                      (nw_random_unit(&work->random) - 0.5);
            work->center[d][p] += (float)go;
        }
    }
}

static void change_pulls(struct rounding *work)
{
    double area = work->radius * work->radius;

    for (int32_t p = 0; p < work->round->parts; p++) {
        double off =
            (double)(work->target[p] - work->size[p]) / work->target[p];

        work->pull[p] += (float)(PULL * area * fmax(-0.5, fmin(0.5, off)));
    }
}

/* --- exact sizes --- */

struct offer {
    float cost;
    int32_t point;
};

static void put(struct rounding *work, int32_t i, int32_t p)
{
    work->round->part[i] = p;
    work->after[i] = work->first[p];
    work->first[p] = i;
}

static float cost_of(const struct rounding *work, int32_t i, int32_t p)
{
    float sum = -work->pull[p];

    for (int d = 0; d < work->round->dims; d++) {
        float off = offset(work, d, work->round->at[d][i], p);

        sum += off * off;
    }
    return sum;
}

/* Lowers cost[] to that of taking a point from p. */
static void price_point(const struct rounding *work, int32_t i, int32_t p,
                        float *cost)
{
    const struct nw_round *round = work->round;
    float here = cost_of(work, i, p);

    for (size_t q = 0; q < work->wide; q += NW_LANES) {
        nw_lanes *least = (nw_lanes *)(cost + q);
        nw_lanes now = -*(const nw_lanes *)(work->pull + q) - here;

        for (int d = 0; d < round->dims; d++)
            now += square(round->at[d][i] -
                              *(const nw_lanes *)(work->center[d] + q),
                          round->ring[d], true);
        *least = nw_lanes_lesser(now, *least);
    }
}

static void price_part(struct rounding *work, int32_t p)
{
    float *cost = work->cost + (size_t)p * work->wide;

    for (size_t q = 0; q < work->wide; q++)
        cost[q] = FAR;
    for (int32_t i = work->first[p]; i >= 0; i = work->after[i])
        price_point(work, i, p, cost);
    for (size_t q = 0; q < work->wide; q++)
        cost[q] = cost[q] > 0 ? cost[q] : 0;
}

/* The cheapest way from parts that are too large to one that is too small. */
static int32_t find_way(struct rounding *work)
{
    int32_t parts = work->round->parts, best = -1;
    bool changed = true;

    for (int32_t p = 0; p < parts; p++) {
        work->way[p] = work->size[p] > work->target[p] ? 0 : FAR;
        work->from[p] = -1;
    }
    while (changed) {
        changed = false;
        for (int32_t p = 0; p < parts; p++) {
            const float *cost = work->cost + (size_t)p * work->wide;

            for (int32_t q = 0; work->way[p] < FAR && q < parts; q++)
                if (work->way[p] + cost[q] < work->way[q]) {
                    work->way[q] = work->way[p] + cost[q];
                    work->from[q] = p;
                    changed = true;
                }
        }
    }
    for (int32_t p = 0; p < parts; p++)
        if (work->size[p] < work->target[p] &&
            (best < 0 || work->way[p] < work->way[best]))
            best = p;
    return best;
}

static int by_cost(const void *left, const void *right)
{
    const struct offer *a = left, *b = right;

    if (a->cost < b->cost || a->cost > b->cost)
        return a->cost < b->cost ? -1 : 1;
    return (a->point > b->point) - (a->point < b->point);
}

/* The points that cost least. */
static void give(struct rounding *work, int32_t p, int32_t q, int32_t amount)
{
    struct offer *offer = work->offer;
    int32_t count = 0;

    for (int32_t i = work->first[p]; i >= 0; i = work->after[i])
        offer[count++] =
            (struct offer){cost_of(work, i, q) - cost_of(work, i, p), i};
    qsort(offer, (size_t)count, sizeof *offer, by_cost);
    work->first[p] = -1;
    for (int32_t k = 0; k < count; k++)
        put(work, offer[k].point, k < amount ? q : p);
    work->size[p] -= amount;
    work->size[q] += amount;
}

/* Half of what is too much at once: then the ways are others. */
static int32_t amount_of(const struct rounding *work, int32_t to)
{
    int32_t amount = work->target[to] - work->size[to], p = to;

    for (; work->from[p] >= 0; p = work->from[p])
        if (work->size[work->from[p]] <= amount)
            amount = work->size[work->from[p]] - 1;
    if (amount > work->size[p] - work->target[p])
        amount = work->size[p] - work->target[p];
    return amount > 1 ? amount / 2 : 1;
}

static void even_out(struct rounding *work)
{
    int32_t to;

    for (int32_t p = 0; p < work->round->parts; p++)
        work->first[p] = -1;
    for (int32_t i = 0; i < work->round->n; i++)
        put(work, i, work->round->part[i]);
    for (int32_t p = 0; p < work->round->parts; p++)
        price_part(work, p);
    while ((to = find_way(work)) >= 0 && work->from[to] >= 0) {
        int32_t amount = amount_of(work, to);

        for (int32_t p; (p = work->from[to]) >= 0; to = p) {
            give(work, p, to, amount);
            price_part(work, to);
        }
        price_part(work, to);
    }
}

/* --- all of it --- */

static nw_status alloc(struct rounding *work)
{
    size_t parts = (size_t)work->round->parts, wide = work->wide;
    nw_status status = nw_alloc(wide, sizeof *work->pull, &work->pull);

    for (int d = 0; !status && d < work->round->dims; d++)
        status = nw_alloc(wide, sizeof *work->center[d], &work->center[d]);
    if (!status)
        status = nw_alloc(parts, sizeof *work->sum, &work->sum);
    if (!status)
        status = nw_alloc(parts, sizeof *work->size, &work->size);
    if (!status)
        status = nw_alloc(parts, sizeof *work->target, &work->target);
    if (!status)
        status = nw_alloc_raw(parts * wide, sizeof *work->cost, &work->cost);
    if (!status)
        status = nw_alloc(parts, sizeof *work->way, &work->way);
    if (!status)
        status = nw_alloc(parts, sizeof *work->from, &work->from);
    if (!status)
        status = nw_alloc(parts, sizeof *work->first, &work->first);
    if (!status)
        status = nw_alloc_raw((size_t)work->round->n, sizeof *work->after,
                              &work->after);
    if (!status)
        status = nw_alloc_raw((size_t)work->round->n, sizeof *work->offer,
                              &work->offer);
    return status;
}

/* Around the last point of each, where there are rings. */
static void center_parts(struct rounding *work)
{
    const struct nw_round *round = work->round;

    for (int d = 0; d < round->dims; d++)
        for (int32_t i = 0; i < round->n; i++)
            work->center[d][round->part[i]] = round->at[d][i];
    memcpy(work->size, work->target, (size_t)round->parts * sizeof *work->size);
    move_centers(work, 0);
}

static void begin(struct rounding *work)
{
    const struct nw_round *round = work->round;
    double each = (double)round->n / round->parts;

    nw_random_init(&work->random, round->seed);
    work->radius = pow(each, 1.0 / round->dims) / 2;
    for (int d = 0; d < round->dims; d++)
        work->rings |= round->ring[d] > 0;
    for (int32_t i = 0; i < round->n; i++)
        work->target[round->part[i]]++;
    for (size_t p = (size_t)round->parts; p < work->wide; p++)
        work->pull[p] = -FAR;
    center_parts(work);
}

static void run(struct rounding *work)
{
    for (int i = 0; i < MOVES; i++) {
        deal(work);
        move_centers(work, 1 - i / (SHAKEN * MOVES));
        change_pulls(work);
    }
    for (int i = 0; i < SETTLED; i++) {
        deal(work);
        change_pulls(work);
    }
    deal(work);
    even_out(work);
}

nw_status nw_round(const struct nw_round *round)
{
    struct rounding work = {.round = round};
    nw_status status;

    if (round->parts < 2 || round->n < NW_LANES)
        return NW_OK;
    work.wide = (size_t)(round->parts + NW_LANES - 1) / NW_LANES * NW_LANES;
    status = alloc(&work);
    if (!status) {
        begin(&work);
        run(&work);
    }
    for (int d = 0; d < round->dims; d++)
        free(work.center[d]);
    free(work.pull);
    free(work.sum);
    free(work.size);
    free(work.target);
    free(work.cost);
    free(work.way);
    free(work.from);
    free(work.first);
    free(work.after);
    free(work.offer);
    return status;
}

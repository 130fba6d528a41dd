/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Robust tabu search (Taillard, Parallel Computing 17, 1991). The change of the
 * cost by each possible swap is stored, and updated after each swap made. For a
 * swap of items r and s, let f_u be the difference of the flows from r and s to
 * item u, and g_u that of the distances. The swap adds (f_u - f_v)(g_u - g_v)
 * to the stored change of every pair (u, v) without r and s. The changes of
 * pairs with r or s are computed from the products P_uv = sum over k of
 * flow[u][k] x distance[v][k], the distances being those between the present
 * places of items. These are also stored, since a swap changes P only by a
 * matrix of rank one and in columns r and s.
 */
#include "map/qap/qap.h"
#include "base/array.h"

#include <math.h>
#include <string.h>

/* One view of the problem: the rows of the flow and distance matrices. If these
 * are not symmetric, a second side has their columns. */
struct robust_tabu_side {
    const double *flow; /* [n^2] flows from item to item */
    double *distance;   /* [n^2] distances between the present places of
                           items */
    double *product;    /* [n^2] products P_uv of the present places */
    double *f, *g;      /* [n] f_u and g_u of the swap being made */
};

/* State of the search. */
struct nw_robust_tabu {
    const struct nw_qap *qap;
    size_t n;
    int side_count;
    struct robust_tabu_side side[2];
    double *turned; /* transposed flows if the problem is not symmetric */
    double *change; /* [n^2] change[u * n + v]: change of the cost if items u <
                       v swap; kept for real u and movable v */
    /* [n^2] until[i * n + a]: first step at which item i may return to place a
     */
    uint64_t *until;
    int32_t *now; /* [n] present place of each item */
};

/* Allocates the sides: one if the problem is symmetric, otherwise two. */
static nw_status robust_tabu_alloc_sides(struct nw_robust_tabu *tabu)
{
    size_t n = tabu->n;
    nw_status status = NW_OK;

    tabu->side[0].flow = tabu->qap->flow;
    if (tabu->side_count == 2) {
        status = nw_alloc(n * n, sizeof(double), &tabu->turned);
        for (size_t i = 0; !status && i < n * n; i++)
            tabu->turned[i] = tabu->qap->flow[i % n * n + i / n];
        tabu->side[1].flow = tabu->turned;
    }
    for (int k = 0; !status && k < tabu->side_count; k++) {
        struct robust_tabu_side *side = &tabu->side[k];

        status = NW_ALLOC_ALL(NW_ARRAY(n * n, side->distance),
                              NW_ARRAY(n * n, side->product),
                              NW_ARRAY(n, side->f), NW_ARRAY(n, side->g));
    }
    return status;
}

nw_status nw_robust_tabu_new(const struct nw_qap *qap,
                             struct nw_robust_tabu **out)
{
    struct nw_robust_tabu *tabu;
    size_t n = (size_t)qap->n;
    nw_status status = nw_alloc(1, sizeof *tabu, &tabu);

    if (status)
        return status;
    tabu->qap = qap;
    tabu->n = n;
    tabu->side_count = qap->symmetric ? 1 : 2;
    status = robust_tabu_alloc_sides(tabu);
    if (!status)
        status =
            NW_ALLOC_ALL(NW_ARRAY(n * n, tabu->change),
                         NW_ARRAY(n * n, tabu->until), NW_ARRAY(n, tabu->now));
    if (status)
        nw_robust_tabu_free(tabu);
    else
        *out = tabu;
    return status;
}

void nw_robust_tabu_free(struct nw_robust_tabu *tabu)
{
    if (!tabu)
        return;
    for (int k = 0; k < 2; k++)
        NW_FREE_ALL(tabu->side[k].distance, tabu->side[k].product,
                    tabu->side[k].f, tabu->side[k].g);
    NW_FREE_ALL(tabu->turned, tabu->change, tabu->until, tabu->now, tabu);
}

/* --- from scratch --- */

/* Fills the distances of each side for the present places of the items. */
static void robust_tabu_place_distances(struct nw_robust_tabu *tabu)
{
    size_t n = tabu->n;

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double d =
                tabu->qap
                    ->distance[(size_t)tabu->now[i] * n + (size_t)tabu->now[j]];

            tabu->side[0].distance[i * n + j] = d;
            if (tabu->side_count == 2)
                tabu->side[1].distance[j * n + i] = d;
        }
}

/* Returns the scalar product of a[n] and b[n]. */
static double robust_tabu_dot(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t k = 0; k < n; k++)
        sum += a[k] * b[k];
    return sum;
}

/* Returns the part of one side in the change of the cost if items u and v swap.
 */
static double robust_tabu_pair_on(const struct robust_tabu_side *side, size_t n,
                                  size_t u, size_t v)
{
    const double *a = side->flow, *c = side->distance, *p = side->product;
    size_t uu = u * n + u, uv = u * n + v, vu = v * n + u, vv = v * n + v;

    return p[uv] + p[vu] - p[uu] - p[vv] - (a[uu] - a[vu]) * (c[vu] - c[uu]) -
           (a[uv] - a[vv]) * (c[vv] - c[uv]);
}

/* Returns the change of the cost if items u and v swap, from the stored
 * products. */
static double robust_tabu_change_of(const struct nw_robust_tabu *tabu, size_t u,
                                    size_t v)
{
    size_t n = tabu->n;
    const double *a = tabu->side[0].flow, *c = tabu->side[0].distance;
    double sum = robust_tabu_pair_on(&tabu->side[0], n, u, v);

    sum += tabu->side_count == 1 ? sum
                                 : robust_tabu_pair_on(&tabu->side[1], n, u, v);
    sum += (a[u * n + u] - a[v * n + v]) * (c[v * n + v] - c[u * n + u]);
    return sum + (a[u * n + v] - a[v * n + u]) * (c[v * n + u] - c[u * n + v]);
}

/* Moves the items to the given places, computes all stored values from scratch,
 * and allows all swaps. */
static void robust_tabu_restart(struct nw_robust_tabu *tabu,
                                const int32_t *place)
{
    size_t n = tabu->n;

    memcpy(tabu->now, place, n * sizeof *place);
    memset(tabu->until, 0, n * n * sizeof *tabu->until);
    robust_tabu_place_distances(tabu);
    for (int k = 0; k < tabu->side_count; k++)
        for (size_t u = 0; u < n; u++)
            for (size_t v = 0; v < n; v++)
                tabu->side[k].product[u * n + v] =
                    robust_tabu_dot(tabu->side[k].flow + u * n,
                                    tabu->side[k].distance + v * n, n);
    for (size_t u = 0; u < n; u++)
        for (size_t v = u + 1; v < n; v++)
            tabu->change[u * n + v] = robust_tabu_change_of(tabu, u, v);
}

/* --- one swap --- */

static void robust_tabu_swap_values(double *x, double *y)
{
    double z = *x;

    *x = *y;
    *y = z;
}

/* Computes f and g of each side for the swap of items r and s. */
static void robust_tabu_find_differences(struct nw_robust_tabu *tabu, size_t r,
                                         size_t s)
{
    size_t n = tabu->n;

    for (int k = 0; k < tabu->side_count; k++) {
        struct robust_tabu_side *side = &tabu->side[k];
        const struct robust_tabu_side *other =
            &tabu->side[tabu->side_count - 1 - k];
        const double *a = other->flow, *c = other->distance;

        for (size_t u = 0; u < n; u++) {
            side->f[u] = a[r * n + u] - a[s * n + u];
            side->g[u] = c[r * n + u] - c[s * n + u];
        }
    }
}

/* Updates the products of a side for the swap of r and s. Must be called before
 * the distances are updated. */
static void robust_tabu_change_products(struct robust_tabu_side *side, size_t n,
                                        size_t r, size_t s)
{
    const double *c = side->distance, *g = side->g;
    double to_r = c[s * n + s] - c[s * n + r];
    double to_s = c[r * n + s] - c[r * n + r];

    for (size_t u = 0; u < n; u++) {
        double *p = side->product + u * n, f = side->f[u];
        double at_r = p[r], at_s = p[s];

        if (f != 0)
            for (size_t v = 0; v < n; v++)
                p[v] -= f * g[v];
        p[r] = at_s + f * to_r;
        p[s] = at_r + f * to_s;
    }
}

/* Updates the distances of a side for the swap of items r and s. */
static void robust_tabu_swap_places(struct robust_tabu_side *side, size_t n,
                                    size_t r, size_t s)
{
    double *c = side->distance;

    for (size_t k = 0; k < n; k++)
        robust_tabu_swap_values(&c[r * n + k], &c[s * n + k]);
    for (size_t k = 0; k < n; k++)
        robust_tabu_swap_values(&c[k * n + r], &c[k * n + s]);
}

/* Updates the stored changes of all pairs after the swap of items r and s. */
static void robust_tabu_change_pairs(struct nw_robust_tabu *tabu, size_t r,
                                     size_t s)
{
    size_t n = tabu->n, movable = (size_t)tabu->qap->movable;
    size_t real = (size_t)tabu->qap->real;

    for (size_t u = 0; u < real; u++)
        for (int k = 0; k < tabu->side_count; k++) {
            const double *f = tabu->side[k].f, *g = tabu->side[k].g;
            double *row = tabu->change + u * n, fu = f[u], gu = g[u];

            for (size_t v = u + 1; v < movable; v++)
                row[v] += (fu - f[v]) * (gu - g[v]);
        }
    for (size_t u = 0; u < movable; u++) {
        if (u != r)
            tabu->change[u < r ? u * n + r : r * n + u] =
                robust_tabu_change_of(tabu, u, r);
        if (u != s)
            tabu->change[u < s ? u * n + s : s * n + u] =
                robust_tabu_change_of(tabu, u, s);
    }
}

/* Swaps the places of items r and s and updates all stored values. */
static void robust_tabu_swap_items(struct nw_robust_tabu *tabu, size_t r,
                                   size_t s)
{
    int32_t place = tabu->now[r];

    robust_tabu_find_differences(tabu, r, s);
    for (int k = 0; k < tabu->side_count; k++)
        robust_tabu_change_products(&tabu->side[k], tabu->n, r, s);
    for (int k = 0; k < tabu->side_count; k++)
        robust_tabu_swap_places(&tabu->side[k], tabu->n, r, s);
    tabu->now[r] = tabu->now[s];
    tabu->now[s] = place;
    /* The second side of a symmetric problem would add the same amount. */
    for (size_t u = 0; tabu->side_count == 1 && u < tabu->n; u++)
        tabu->side[0].f[u] *= 2;
    robust_tabu_change_pairs(tabu, r, s);
}

/* --- choosing --- */

/* A pair of items, and the change of the cost if they swap places. */
struct robust_tabu_choice {
    size_t u, v; /* u == v: no pair found */
    double change;
};

/* Returns the pair whose swap lowers the cost most, or else raises it least. A
 * pair is tabu if both items would return to places that they left recently. A
 * tabu pair is taken only if its change is below `wanted`. */
static struct robust_tabu_choice
robust_tabu_choose(const struct nw_robust_tabu *tabu, uint64_t step,
                   double wanted)
{
    size_t n = tabu->n, movable = (size_t)tabu->qap->movable;
    size_t real = (size_t)tabu->qap->real;
    struct robust_tabu_choice best = {0, 0, INFINITY};

    for (size_t u = 0; u < real; u++) {
        const double *row = tabu->change + u * n;

        for (size_t v = u + 1; v < movable; v++)
            if (row[v] < best.change &&
                (row[v] < wanted ||
                 tabu->until[u * n + (size_t)tabu->now[v]] <= step ||
                 tabu->until[v * n + (size_t)tabu->now[u]] <= step))
                best = (struct robust_tabu_choice){u, v, row[v]};
    }
    return best;
}

/* Returns for how many steps an item may not return to a place: a random number
 * that is often small and sometimes large, because a uniform number is cubed.
 */
static uint64_t robust_tabu_tenure(size_t n, struct nw_random *random)
{
    double unit = nw_random_unit(random);

    return (uint64_t)(8.0 * (double)n * unit * unit * unit) + 2;
}

double nw_robust_tabu_run(struct nw_robust_tabu *tabu, struct nw_random *random,
                          uint64_t steps, int32_t *place)
{
    double start = nw_qap_cost(tabu->qap, place), cost = start, best = start;
    double near = tabu->qap->step > 0 ? 0.25 : 1e-12 * fabs(cost);
    size_t n = tabu->n;

    robust_tabu_restart(tabu, place);
    for (uint64_t step = 1; step <= steps; step++) {
        struct robust_tabu_choice choice =
            robust_tabu_choose(tabu, step, best - cost - near);

        if (choice.u == choice.v)
            continue;
        /* for some steps, both items may not return to their present places */
        tabu->until[choice.u * n + (size_t)tabu->now[choice.u]] =
            step + robust_tabu_tenure(n, random);
        tabu->until[choice.v * n + (size_t)tabu->now[choice.v]] =
            step + robust_tabu_tenure(n, random);
        robust_tabu_swap_items(tabu, choice.u, choice.v);
        cost += choice.change;
        if (cost < best - near) {
            best = cost;
            memcpy(place, tabu->now, tabu->n * sizeof *place);
        }
    }
    nw_qap_check(tabu->qap, place, best, start);
    nw_qap_check(tabu->qap, tabu->now, cost, start);
    return nw_qap_cost(tabu->qap, place);
}

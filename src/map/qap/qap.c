/* SPDX-License-Identifier: BSD-3-Clause */
/* The dense quadratic assignment problem and the cost of a solution. */
#include "map/qap/qap.h"
#include "base/array.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

nw_status nw_qap_init(struct nw_qap *qap, int32_t n)
{
    size_t cells = (size_t)n * (size_t)n;
    nw_status status;

    *qap = (struct nw_qap){.n = n, .real = n, .movable = n};
    status = NW_ALLOC_ALL(NW_ARRAY(cells, qap->flow),
                          NW_ARRAY(cells, qap->distance));
    if (status)
        nw_qap_fini(qap);
    return status;
}

void nw_qap_fini(struct nw_qap *qap)
{
    free(qap->flow);
    free(qap->distance);
    *qap = (struct nw_qap){0};
}

/* Returns true if the matrix m[n x n] is symmetric. */
static bool qap_is_symmetric(const double *m, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (m[i * n + j] != m[j * n + i])
                return false;
    return true;
}

/* Replaces a matrix by the mean of itself and its transpose. Half of an odd sum
 * is exact in binary floating point. */
static void qap_make_symmetric(double *m, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            double half = m[i * n + j] / 2 + m[j * n + i] / 2;

            m[i * n + j] = m[j * n + i] = half;
        }
}

/* Returns true if all values of m[] are whole numbers. Raises *most to the
 * largest of them. */
static bool qap_is_whole(const double *m, size_t cells, double *most)
{
    for (size_t i = 0; i < cells; i++) {
        if (m[i] != floor(m[i]))
            return false;
        if (m[i] > *most)
            *most = m[i];
    }
    return true;
}

/* Returns true if a value on the diagonal is not 0. */
static bool qap_has_diagonal(const double *m, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (m[i * n + i] != 0)
            return true;
    return false;
}

/* Returns 2 or 1, a number of which all costs are multiples. Returns 0 if costs
 * are not whole numbers, or if the sums of products that the searches compute
 * would not be exact. `both`: both matrices are symmetric. */
static double qap_find_step(const struct nw_qap *qap, bool both)
{
    size_t n = (size_t)qap->n;
    double flow = 0, distance = 0, sum = 0;

    if (!qap_is_whole(qap->flow, n * n, &flow) ||
        !qap_is_whole(qap->distance, n * n, &distance))
        return 0;
    for (size_t i = 0; i < n * n; i++)
        sum += qap->flow[i];
    if (sum * distance >= 0x1p49)
        return 0;
    both = both && (!qap_has_diagonal(qap->flow, n) ||
                    !qap_has_diagonal(qap->distance, n));
    return both ? 2 : 1;
}

void nw_qap_finish(struct nw_qap *qap)
{
    size_t n = (size_t)qap->n;
    bool left = qap_is_symmetric(qap->flow, n);
    bool right = qap_is_symmetric(qap->distance, n);

    qap->step = qap_find_step(qap, left && right);
    if (left && !right)
        qap_make_symmetric(qap->distance, n);
    if (right && !left)
        qap_make_symmetric(qap->flow, n);
    qap->symmetric = left || right;
}

double nw_qap_cost(const struct nw_qap *qap, const int32_t *place)
{
    size_t n = (size_t)qap->n;
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        const double *flow = qap->flow + i * n;
        const double *distance = qap->distance + (size_t)place[i] * n;

        for (size_t j = 0; j < n; j++)
            if (flow[j] != 0)
                sum += flow[j] * distance[place[j]];
    }
    return sum;
}

/* Returns how much a cost that a search updated by changes may differ from the
 * cost computed from scratch. If costs are exact, that is 0.25, less than any
 * true difference. Otherwise it is a small fraction of the cost that all flows
 * would have at the largest distance, or of the cost `start` if that is more.
 */
static double qap_rounding(const struct nw_qap *qap, double start)
{
    size_t cells = (size_t)qap->n * (size_t)qap->n;
    double flow = 0, distance = 0;

    if (qap->step > 0)
        return 0.25;
    for (size_t i = 0; i < cells; i++) {
        flow += fabs(qap->flow[i]);
        distance = fmax(distance, fabs(qap->distance[i]));
    }
    return fmax(1e-7 * fabs(start), 1e-9 * flow * distance);
}

void nw_qap_check(const struct nw_qap *qap, const int32_t *place, double cost,
                  double start)
{
    double near = qap_rounding(qap, start);

    (void)near;
    (void)cost;
    (void)place;
    assert(fabs(nw_qap_cost(qap, place) - cost) <= near);
}

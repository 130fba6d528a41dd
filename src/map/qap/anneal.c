/* SPDX-License-Identifier: BSD-3-Clause */
/* Annealing of a QAP by swaps of two random items. The change of a swap is
 * computed in O(n). The first and the last temperature follow from a sample of
 * changes, as in Connolly (European Journal of Operational Research 46, 1990).
 */
#include "map/qap/qap.h"
#include "map/common/parameters.h"
#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* State of one annealing of a QAP. */
struct qap_anneal_work {
    const struct nw_qap *qap;
    struct nw_random random;
    int32_t *now; /* [n] present place of each item */
    double cost;
};

/* Returns the change of the cost if items u and v are swapped. */
static double qap_anneal_change_of(const struct qap_anneal_work *work, size_t u,
                                   size_t v)
{
    const struct nw_qap *qap = work->qap;
    size_t n = (size_t)qap->n;
    size_t p = (size_t)work->now[u], q = (size_t)work->now[v];
    const double *a = qap->flow, *b = qap->distance;
    double sum;

    sum = (a[u * n + u] - a[v * n + v]) * (b[q * n + q] - b[p * n + p]) +
          (a[u * n + v] - a[v * n + u]) * (b[q * n + p] - b[p * n + q]);
    for (size_t k = 0; k < n; k++) {
        size_t at = (size_t)work->now[k];

        if (k == u || k == v)
            continue;
        sum += (a[u * n + k] - a[v * n + k]) * (b[q * n + at] - b[p * n + at]) +
               (a[k * n + u] - a[k * n + v]) * (b[at * n + q] - b[at * n + p]);
    }
    return sum;
}

/* Draws two different movable items, the first of which is real. */
static void qap_anneal_draw_pair(struct qap_anneal_work *work, size_t *u,
                                 size_t *v)
{
    *u = nw_random_below(&work->random, (uint64_t)work->qap->real);
    *v = nw_random_below(&work->random, (uint64_t)work->qap->movable - 1);
    *v += *v >= *u;
}

/* Sets *hot and *cold, the first and the last temperature, from the changes of
 * a sample of random swaps. */
static void qap_anneal_sample(struct qap_anneal_work *work, double *hot,
                              double *cold)
{
    double most = 0, least = INFINITY;

    for (int i = 0; i < nw_tuned.qap.samples; i++) {
        double change;
        size_t u, v;

        qap_anneal_draw_pair(work, &u, &v);
        change = fabs(qap_anneal_change_of(work, u, v));
        most = fmax(most, change);
        if (change > 0)
            least = fmin(least, change);
    }
    *hot = most / 5;
    *cold = least < INFINITY ? fmin(least, *hot) / 10 : 0;
}

/* Makes `steps` trials while the temperature falls from the first to the last,
 * and keeps the best solution in best[]. */
static void qap_anneal_anneal(struct qap_anneal_work *work, uint64_t steps,
                              int32_t *best)
{
    double temperature, cold, factor, start = work->cost, least = start;
    double near = work->qap->step > 0 ? 0.25 : 1e-12 * fabs(least);

    qap_anneal_sample(work, &temperature, &cold);
    factor = temperature > 0 ? pow(cold / temperature, 1.0 / (double)steps) : 1;
    for (uint64_t i = 0; i < steps; i++, temperature *= factor) {
        double change;
        int32_t place;
        size_t u, v;

        qap_anneal_draw_pair(work, &u, &v);
        change = qap_anneal_change_of(work, u, v);
        if (change > 0 && (temperature <= 0 || nw_random_unit(&work->random) >=
                                                   exp(-change / temperature)))
            continue;
        place = work->now[u];
        work->now[u] = work->now[v];
        work->now[v] = place;
        work->cost += change;
        if (work->cost < least - near) {
            least = work->cost;
            memcpy(best, work->now, (size_t)work->qap->n * sizeof *best);
        }
    }
    nw_qap_check(work->qap, best, least, start);
    nw_qap_check(work->qap, work->now, work->cost, start);
}

nw_status nw_qap_anneal(const struct nw_qap *qap, uint64_t seed, uint64_t steps,
                        int32_t *place, double *cost)
{
    struct qap_anneal_work work = {.qap = qap};
    nw_status status = nw_alloc((size_t)qap->n, sizeof *work.now, &work.now);

    if (status)
        return status;
    nw_random_init(&work.random, seed);
    memcpy(work.now, place, (size_t)qap->n * sizeof *place);
    work.cost = nw_qap_cost(qap, place);
    if (qap->real && qap->movable > 1 && steps)
        qap_anneal_anneal(&work, steps, place);
    *cost = nw_qap_cost(qap, place);
    free(work.now);
    return NW_OK;
}

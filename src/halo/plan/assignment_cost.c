/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the cost of an assignment and lowers it by swaps of two facilities.
 */
#include "halo/plan/assignment.h"

double nw_halo_assignment_cost(const struct nw_halo_assignment *problem,
                               const int32_t *at)
{
    int32_t n = problem->n;
    double cost = 0;

    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++)
            cost += problem->flow[(size_t)i * n + j] *
                    problem->distance[(size_t)at[i] * n + at[j]];
    return cost;
}

/* Returns the decrease of the cost if facilities i and j swap their locations;
 * negative if the cost increases. */
static double swap_gain(const struct nw_halo_assignment *problem,
                        const int32_t *at, int32_t i, int32_t j)
{
    const double *f = problem->flow, *d = problem->distance;
    size_t n = (size_t)problem->n;
    size_t a = (size_t)at[i], b = (size_t)at[j];
    double gain =
        (f[i * n + i] - f[j * n + j]) * (d[a * n + a] - d[b * n + b]) +
        (f[i * n + j] - f[j * n + i]) * (d[a * n + b] - d[b * n + a]);

    for (size_t k = 0; k < n; k++) {
        size_t c = (size_t)at[k];

        if (k == (size_t)i || k == (size_t)j)
            continue;
        gain += (f[i * n + k] - f[j * n + k]) * (d[a * n + c] - d[b * n + c]) +
                (f[k * n + i] - f[k * n + j]) * (d[c * n + a] - d[c * n + b]);
    }
    return gain;
}

void nw_halo_assignment_descend(const struct nw_halo_assignment *problem,
                                int32_t *at)
{
    double enough = NW_HALO_TOLERANCE * nw_halo_assignment_cost(problem, at);
    bool better = true;

    while (better) {
        better = false;
        for (int32_t i = 0; i < problem->n; i++)
            for (int32_t j = i + 1; j < problem->n; j++)
                if (swap_gain(problem, at, i, j) > enough) {
                    int32_t held = at[i];

                    at[i] = at[j];
                    at[j] = held;
                    better = true;
                }
    }
}

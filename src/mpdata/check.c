/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks a solver's velocities for stability, and computes extrema of x and the
 * sum of h x. */
#include "mpdata/solver.h"
#include "base/status.h"
#include <math.h>

static double mpdata_check_face(const struct nw_mpdata *s, int axis,
                                ptrdiff_t at)
{
    return nw_mpdata_value(s, s->field[NW_MPDATA_U1 + axis], at);
}

/* Returns the Courant number of a cell: the sum of one velocity per axis,
 * divided by h. The velocity of an axis is the larger absolute velocity through
 * its two faces. If both are directed out of the cell, it is the sum of both
 * absolute velocities. */
static double mpdata_check_courant(const struct nw_mpdata *s, ptrdiff_t at)
{
    const ptrdiff_t step[3] = {s->plane, s->pitch, 1};
    double sum = 0;

    for (int a = 0; a < 3; a++) {
        double low = mpdata_check_face(s, a, at - step[a]),
               high = mpdata_check_face(s, a, at);

        sum += low < 0 && high > 0 ? high - low : fmax(fabs(low), fabs(high));
    }
    return sum / nw_mpdata_value(s, s->field[NW_MPDATA_H], at);
}

nw_status nw_mpdata_check(const nw_mpdata *s, double *highest)
{
    double most = 0;
    ptrdiff_t where[3] = {0};

    for (ptrdiff_t i = 0; i < s->n[0]; i++)
        for (ptrdiff_t j = 0; j < s->n[1]; j++)
            for (ptrdiff_t k = 0; k < s->n[2]; k++) {
                double sum = mpdata_check_courant(s, nw_mpdata_at(s, i, j) + k);
                if (sum <= most)
                    continue;
                most = sum;
                where[0] = i, where[1] = j, where[2] = k;
            }
    if (highest)
        *highest = most;
    if (most > 1 + 1e-6)
        return nw_fail(NW_EFORMAT,
                       "Courant number %g of cell (%lld, %lld, %td), summed "
                       "over its axes, is above the stable limit 1; use "
                       "smaller velocities or a shorter time step",
                       most, (long long)(s->origin[0] + where[0]),
                       (long long)(s->origin[1] + where[1]), where[2]);
    return NW_OK;
}

void nw_mpdata_summarize(const nw_mpdata *s, struct nw_mpdata_summary *out)
{
    const void *x = s->field[NW_MPDATA_X], *h = s->field[NW_MPDATA_H];
    ptrdiff_t first = nw_mpdata_at(s, 0, 0);
    double sum = 0, lost = 0; // Kahan-Neumaier summation
    double nan = 0;           // a value that is not a number; 0: none
    struct nw_mpdata_summary result = {.low = nw_mpdata_value(s, x, first),
                                       .high = nw_mpdata_value(s, x, first)};

    for (ptrdiff_t i = 0; i < s->n[0]; i++)
        for (ptrdiff_t j = 0; j < s->n[1]; j++)
            for (ptrdiff_t k = 0; k < s->n[2]; k++) {
                ptrdiff_t at = nw_mpdata_at(s, i, j) + k;
                double value = nw_mpdata_value(s, x, at);
                double term = value * nw_mpdata_value(s, h, at);
                double next = sum + term;
                lost += fabs(sum) >= fabs(term) ? (sum - next) + term
                                                : (term - next) + sum;
                sum = next;
                if (isnan(value))
                    nan = value;
                result.low = fmin(result.low, value);
                result.high = fmax(result.high, value);
            }
    if (isnan(nan)) // fmin and fmax ignore it
        result.low = result.high = nan;
    result.mass = sum + lost;
    *out = result;
}
NW_OLD_NAME(nw_mpdata_summary, nw_mpdata_summarize);

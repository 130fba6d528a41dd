/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies fields between the caller's plain arrays and the solver's arrays,
 * which have ghosts. Checks the values that come from the caller. */
#include "mpdata/solver.h"
#include "base/status.h"
#include <float.h>
#include <math.h>

/* Largest h in single precision for the fast variant; with larger values, h
 * times a velocity would overflow. */
#define LARGEST_FAST 1e18

static const char *const field_name[NW_MPDATA_FIELD_COUNT] = {"x", "u1", "u2",
                                                              "u3", "h"};

double nw_mpdata_value(const struct nw_mpdata *s, const void *field,
                       ptrdiff_t at)
{
    return s->options.single ? (double)((const float *)field)[at]
                             : ((const double *)field)[at];
}

void nw_mpdata_store(const struct nw_mpdata *s, void *field, ptrdiff_t at,
                     double value)
{
    if (s->options.single)
        ((float *)field)[at] = (float)value;
    else
        ((double *)field)[at] = value;
}

void nw_mpdata_extent(const struct nw_mpdata *s, enum nw_mpdata_field field,
                      int64_t out[3])
{
    for (int a = 0; a < 3; a++)
        out[a] = s->n[a] + ((int)field == NW_MPDATA_U1 + a);
}

size_t nw_mpdata_count(const nw_mpdata *s, enum nw_mpdata_field field)
{
    int64_t n[3];

    nw_mpdata_extent(s, field, n);
    return (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
}

/* Returns a message about an invalid value of a field; NULL if the value is
 * valid. */
static const char *fields_fault(const struct nw_mpdata *s,
                                enum nw_mpdata_field field, double value)
{
    if (isnan(value))
        return "not a number";
    if (isinf(value) || (s->options.single && fabs(value) > 3e38))
        return "too large";
    if (field == NW_MPDATA_H && !(value > 0))
        return "not positive";
    if (field == NW_MPDATA_H && s->options.single && (float)value < FLT_MIN)
        return "too small for single precision";
    if (field == NW_MPDATA_H && s->options.single && s->options.fast &&
        value > LARGEST_FAST)
        return "too large for single precision and one division a face";
    if (field == NW_MPDATA_X && value < 0 && !s->options.infinite_gauge)
        return "negative, which needs the infinite gauge";
    return NULL;
}

static nw_status check_values(const struct nw_mpdata *s,
                              enum nw_mpdata_field field, const double *values)
{
    int64_t n[3];

    nw_mpdata_extent(s, field, n);
    for (int64_t i = 0; i < n[0]; i++)
        for (int64_t j = 0; j < n[1]; j++)
            for (int64_t k = 0; k < n[2]; k++) {
                double value = *values++;
                const char *what = fields_fault(s, field, value);
                if (what)
                    return nw_fail(
                        NW_EFORMAT, "%s at (%lld, %lld, %lld): %g is %s",
                        field_name[field], (long long)(s->origin[0] + i),
                        (long long)(s->origin[1] + j), (long long)k, value,
                        what);
            }
    return NW_OK;
}

/* Returns an error if the first and the last face of a periodic axis have
 * different velocities: both are the same face. */
static nw_status check_faces(const struct nw_mpdata *s, int axis,
                             const double *values)
{
    int64_t n[3], step[3], at[3];

    if (s->options.border[axis][0] != NW_MPDATA_PERIODIC)
        return NW_OK;
    nw_mpdata_extent(s, (enum nw_mpdata_field)(NW_MPDATA_U1 + axis), n);
    step[0] = n[1] * n[2], step[1] = n[2], step[2] = 1;
    int b = (axis + 1) % 3, c = (axis + 2) % 3;
    at[axis] = n[axis] - 1;
    for (at[b] = 0; at[b] < n[b]; at[b]++)
        for (at[c] = 0; at[c] < n[c]; at[c]++) {
            int64_t low = at[b] * step[b] + at[c] * step[c];
            int64_t high = low + at[axis] * step[axis];
            if (values[low] == values[high])
                continue;
            return nw_fail(NW_EFORMAT,
                           "u%d at (%lld, %lld, %lld): %g is not the %g of "
                           "the same face at the other end",
                           axis + 1, (long long)(s->origin[0] + at[0]),
                           (long long)(s->origin[1] + at[1]), (long long)at[2],
                           values[high], values[low]);
        }
    return NW_OK;
}

nw_status nw_mpdata_put(nw_mpdata *s, enum nw_mpdata_field field,
                        const double *values)
{
    int64_t n[3];
    ptrdiff_t below[3] = {0};
    nw_status status = check_values(s, field, values);

    if (status == NW_OK && field >= NW_MPDATA_U1 && field <= NW_MPDATA_U3) {
        below[field - NW_MPDATA_U1] = 1;
        status = check_faces(s, (int)(field - NW_MPDATA_U1), values);
    }
    if (status != NW_OK)
        return status;
    nw_mpdata_extent(s, field, n);
    for (int64_t i = 0; i < n[0]; i++)
        for (int64_t j = 0; j < n[1]; j++)
            for (int64_t k = 0; k < n[2]; k++) // + 0 turns -0 into 0
                nw_mpdata_store(s, s->field[field],
                                nw_mpdata_at(s, i - below[0], j - below[1]) +
                                    k - below[2],
                                *values++ + 0.0);
    nw_mpdata_border(s, field, s->field[field]);
    return NW_OK;
}

void nw_mpdata_get(const nw_mpdata *s, double *x)
{
    for (ptrdiff_t i = 0; i < s->n[0]; i++)
        for (ptrdiff_t j = 0; j < s->n[1]; j++)
            for (ptrdiff_t k = 0; k < s->n[2]; k++)
                *x++ = nw_mpdata_value(s, s->field[NW_MPDATA_X],
                                       nw_mpdata_at(s, i, j) + k);
}

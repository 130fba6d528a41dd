/* SPDX-License-Identifier: BSD-3-Clause */
/* The test cases as formulas, so that each rank can compute its own part. Three
 * are published: sphere in Smolarkiewicz 1984, as in Jaruga et al. 2015,
 * section 4; cone in Jaruga et al., section 3; gaussian in Jaruga et al.,
 * section 2. */
#include "mpdata/cases.h"
#include "mpdata/solver.h"
#include "base/array.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sphere of value 4 in a field of 0, which is rotated once around the
 * diagonal of a cube. */
static double cases_sphere(const struct nw_mpdata_case *c,
                           enum nw_mpdata_field field, const int64_t at[3])
{
    double dx = 100.0 / 58, off = 25 / sqrt(3), w = 0.1 / sqrt(3) * c->dt / dx;
    double x = (double)at[0] * dx - 50, y = (double)at[1] * dx - 50;
    double z = (double)at[2] * dx - 50;

    switch (field) {
    case NW_MPDATA_X:
        x += off, y -= off, z -= off;
        return x * x + y * y + z * z <= 15 * 15 ? 4 : 0;
    case NW_MPDATA_U1:
        return w * (z - y);
    case NW_MPDATA_U2:
        return w * (x - z);
    case NW_MPDATA_U3:
        return w * (y - x);
    default:
        return 1;
    }
}

/* A cone of height 4 on a background of 1, which is rotated six times. */
static double cases_cone(const struct nw_mpdata_case *c,
                         enum nw_mpdata_field field, const int64_t at[3])
{
    double x = (double)at[0], y = (double)at[2], omega = 0.1 * c->dt;
    double far = (x - 50) * (x - 50) + (y - 75) * (y - 75);

    switch (field) {
    case NW_MPDATA_X:
        return 1 + (far <= 15 * 15 ? 4 - sqrt(far) * 4 / 15 : 0);
    case NW_MPDATA_U1:
        return omega * (y - 50);
    case NW_MPDATA_U2:
        return 0;
    case NW_MPDATA_U3:
        return -omega * (x - 50);
    default:
        return 1;
    }
}

/* Returns an antiderivative of the Gaussian of width 1.5 in the middle of a
 * domain of length 440; differences of it give exact means of cells. */
static double cases_bell(double x)
{
    return erf((x - 220) / (1.5 * sqrt(2))) / 2;
}

static double cases_gaussian(const struct nw_mpdata_case *c,
                             enum nw_mpdata_field field, const int64_t at[3])
{
    double dx = 1 / c->scale, x = (double)at[0] * dx;

    switch (field) {
    case NW_MPDATA_X:
        return (cases_bell(x + dx / 2) - cases_bell(x - dx / 2)) / dx;
    case NW_MPDATA_U1:
        return c->courant;
    case NW_MPDATA_H:
        return 1;
    default:
        return 0;
    }
}

/* The product of three sines plus 2, advected obliquely through a periodic
 * cube. */
static double cases_wave(const struct nw_mpdata_case *c,
                         enum nw_mpdata_field field, const int64_t at[3])
{
    double turn = 2 * M_PI / c->scale;

    switch (field) {
    case NW_MPDATA_X:
        return 2 + sin((double)at[0] * turn) * sin((double)at[1] * turn) *
                       sin((double)at[2] * turn);
    case NW_MPDATA_H:
        return 1;
    default:
        return c->courant * (double)(1 + field - NW_MPDATA_U1);
    }
}

/* Returns the stream function of the case vortex at a corner of cells. The case
 * is a box of value 1 in a background of 0.1, with h varying along two axes.
 * The flow has vortices in the plane of the first two axes, which repeat with
 * the period `scale`, and a constant velocity along the third axis. It is free
 * of divergence, because the velocities in the plane are differences of a
 * stream function. */
static double cases_stream(const struct nw_mpdata_case *c, int64_t a, int64_t b)
{
    double turn = 2 * M_PI / c->scale, amplitude = c->courant * c->scale / 7;

    return amplitude * sin((double)a * turn) * sin((double)b * turn);
}

static double cases_vortex(const struct nw_mpdata_case *c,
                           enum nw_mpdata_field field, const int64_t at[3])
{
    double turn = 2 * M_PI / c->scale, where = 0;

    switch (field) {
    case NW_MPDATA_X:
        for (int a = 0; a < 3; a++)
            where = fmax(where, fabs((double)at[a] - c->scale * 0.4));
        return where < c->scale / 6 ? 1 : 0.1;
    case NW_MPDATA_U1:
        return cases_stream(c, at[0], at[1] + 1) -
               cases_stream(c, at[0], at[1]);
    case NW_MPDATA_U2:
        return cases_stream(c, at[0], at[1]) -
               cases_stream(c, at[0] + 1, at[1]);
    case NW_MPDATA_U3:
        return 0.1;
    default:
        return 1 + 0.2 * sin((double)(at[0] + at[2]) * turn);
    }
}

static const struct nw_mpdata_case cases[] = {
    {.name = "sphere",
     .sentence = "a sphere of 4 once around the diagonal of a cube",
     .size = {59, 59, 59},
     .steps = 556,
     .border = NW_MPDATA_OPEN,
     .dt = 0.018 * 2 * M_PI,
     .value = cases_sphere},
    {.name = "cone",
     .sentence = "a cone of 4 on 1 six times around a square",
     .size = {101, 1, 101},
     .steps = 628 * 6,
     .border = NW_MPDATA_OPEN,
     .dt = 0.1,
     .value = cases_cone},
    {.name = "gaussian",
     .sentence = "a bell of width 1.5 along one axis",
     .size = {440, 1, 1},
     .steps = 2,
     .border = NW_MPDATA_OPEN,
     .dt = 0.5,
     .value = cases_gaussian,
     .scale = 1,
     .courant = 0.5},
    {.name = "wave",
     .sentence = "2 + sin sin sin through a periodic cube",
     .size = {0, 0, 0},
     .steps = 100,
     .border = NW_MPDATA_PERIODIC,
     .dt = 1,
     .value = cases_wave,
     .scale = 64,
     .courant = 0.1},
    {.name = "vortex",
     .sentence = "a box in a flow that turns, with uneven h",
     .size = {0, 0, 0},
     .steps = 100,
     .border = NW_MPDATA_PERIODIC,
     .dt = 1,
     .value = cases_vortex,
     .scale = 64,
     .courant = 0.3},
};

bool nw_mpdata_case_get(size_t index, struct nw_mpdata_case *out)
{
    if (index >= sizeof cases / sizeof *cases)
        return false;
    *out = cases[index];
    return true;
}

bool nw_mpdata_case_find(const char *name, struct nw_mpdata_case *out)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(cases[i].name, name) == 0)
            return nw_mpdata_case_get(i, out);
    return false;
}

/* The formula is used for all faces, also for those on open sides. The velocity
 * through an open side should keep the cell at this side free of divergence.
 * The formula does so, because the velocities of these cases do not depend on
 * the coordinate along which they point. Only at edges it does not, since
 * velocities along a side are 0 beyond the side. That difference is far below
 * the published digits. */
nw_status nw_mpdata_case_put(const struct nw_mpdata_case *made,
                             nw_mpdata *solver)
{
    nw_status status = NW_OK;

    for (int f = 0; f < NW_MPDATA_FIELD_COUNT && status == NW_OK; f++) {
        enum nw_mpdata_field field = (enum nw_mpdata_field)f;
        double *values, *next;
        int64_t n[3];
        nw_mpdata_extent(solver, field, n);
        status =
            nw_alloc(nw_mpdata_count(solver, field), sizeof *values, &values);
        if (status != NW_OK)
            return status;
        next = values;
        for (int64_t i = 0; i < n[0]; i++)
            for (int64_t j = 0; j < n[1]; j++)
                for (int64_t k = 0; k < n[2]; k++) {
                    const int64_t at[3] = {i, j, k};

                    *next++ = made->value(made, field, at);
                }
        status = nw_mpdata_put(solver, field, values);
        free(values);
    }
    return status;
}

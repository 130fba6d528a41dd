/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the solver against published error norms, of its stages and of its
 * invariants. With NW_LONG in the environment, every published figure is
 * computed at full length. */
#include "base/random.h"
#include "mpdata/cases.h"
#include "support/share.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MUST(call) assert_int_equal(call, NW_OK)

/* How many of the published figures are computed: all at full length, or the
 * first of each case; none where the sanitizers or valgrind turn a second into
 * a minute. */
static size_t rows_of(size_t all)
{
    if (getenv("NW_LONG"))
        return all;
#ifdef __SANITIZE_ADDRESS__
    return 0;
#endif
    share_say(getenv("NW_SHARE") ? 0 : 1, 1,
              "published figures at full length");
    return getenv("NW_SHARE") ? 0 : 1;
}

struct figures {
    double high, low, linf, l2, l1;
};

static void set_borders(struct nw_mpdata_options *o, enum nw_mpdata_border b)
{
    for (int a = 0; a < 3; a++)
        o->border[a][0] = o->border[a][1] = b;
}

static double *values_of(const nw_mpdata *s)
{
    double *x = malloc(nw_mpdata_count(s, NW_MPDATA_X) * sizeof *x);

    assert_non_null(x);
    nw_mpdata_get(s, x);
    return x;
}

/* Runs a published case from its start; returns the norms of the error against
 * `exact`, or against the start if that is NULL. */
static struct figures run_case(const struct nw_mpdata_case *c,
                               struct nw_mpdata_options o, const double *exact)
{
    nw_mpdata *s = NULL;
    struct figures f = {.high = -DBL_MAX, .low = DBL_MAX};

    set_borders(&o, c->border);
    o.threads = 1;
    MUST(nw_mpdata_new(c->size, &o, &s));
    MUST(nw_mpdata_case_put(c, s));
    MUST(nw_mpdata_check(s, NULL));
    size_t n = nw_mpdata_count(s, NW_MPDATA_X);
    double *start = values_of(s);
    nw_mpdata_step(s, c->steps);
    double *x = values_of(s);
    for (size_t i = 0; i < n; i++) {
        double e = fabs(x[i] - (exact ? exact[i] : start[i]));
        f.high = fmax(f.high, x[i]);
        f.low = fmin(f.low, x[i]);
        f.linf = fmax(f.linf, e);
        f.l1 += e;
        f.l2 += e * e;
    }
    double time = (double)c->steps * c->dt;
    f.l2 = sqrt(f.l2 / (double)n) / time;
    f.l1 = f.l1 / (double)n / time;
    free(x);
    free(start);
    nw_mpdata_free(s);
    return f;
}

/* Checks that the value has the digits that were printed. */
static void printed(double value, const char *format, const char *digits)
{
    char text[64];

    snprintf(text, sizeof text, format, value);
    // upstream prints 0 without its sign
    assert_string_equal(strcmp(text, "-0.00000000") == 0 ? text + 1 : text,
                        digits);
}

struct published {
    int32_t passes;
    bool limited, gauge;
    const char *high, *low, *linf, *l2, *l1;
};

/* Jaruga et al. 2015, section 4, and the reference data of libmpdata++. */
static void sphere_as_published(void **state)
{
    static const struct published rows[] = {
        {2, true, false, "3.99999989", "0.00000000", "2.90357355", "0.00365567",
         "0.00064920"},
        {2, true, true, "3.99999978", "0.00000000", "2.74523808", "0.00281070",
         "0.00038398"},
        {1, false, false, "1.72131033", "0.00000000", "3.38441916",
         "0.00567238", "0.00128141"},
        {2, false, false, "4.94170863", "0.00000000", "2.92022414",
         "0.00367407", "0.00065310"},
        {2, false, true, "6.16075462", "-1.01495101", "2.94529169",
         "0.00328204", "0.00064378"},
    };
    size_t count = rows_of(sizeof rows / sizeof *rows);
    struct nw_mpdata_case c;

    (void)state;
    assert_true(nw_mpdata_case_find("sphere", &c));
    for (size_t i = 0; i < count; i++) {
        const struct published *r = &rows[i];
        struct nw_mpdata_options o = NW_MPDATA_OPTIONS_INIT;
        o.passes = r->passes;
        o.limited = r->limited;
        o.infinite_gauge = r->gauge;
        struct figures f = run_case(&c, o, NULL);
        printed(f.high, "%.8f", r->high);
        printed(f.low, "%.8f", r->low);
        printed(f.linf, "%.8f", r->linf);
        printed(f.l2, "%.8f", r->l2);
        printed(f.l1, "%.8f", r->l1);
    }
}

/* Section 3 of the same paper. With three passes, the last one begins from the
 * velocities of the second before they are limited, and its limits are the
 * values of x before the step and the present ones. The paper does not say so,
 * but its digits and libmpdata++ do. */
static void cone_as_published(void **state)
{
    static const struct {
        int32_t passes;
        bool limited, gauge, third;
        const char *low, *high, *l2;
    } rows[] = {
        {2, true, false, false, "1.00000000", "3.52544410", "0.00036731"},
        {2, false, false, false, "0.86381076", "3.54697914", "0.00037726"},
        {2, true, true, false, "1.00000000", "4.25518091", "0.00026658"},
        {2, true, true, true, "1.00000000", "4.24063598", "0.00010491"},
        {3, true, false, true, "1.00000000", "4.26672894", "0.00012049"},
    };
    size_t count = rows_of(sizeof rows / sizeof *rows);
    struct nw_mpdata_case c;

    (void)state;
    assert_true(nw_mpdata_case_find("cone", &c));
    for (size_t i = 0; i < count; i++) {
        struct nw_mpdata_options o = NW_MPDATA_OPTIONS_INIT;
        o.passes = rows[i].passes;
        o.limited = rows[i].limited;
        o.infinite_gauge = rows[i].gauge;
        o.third_order = rows[i].third;
        struct figures f = run_case(&c, o, NULL);
        printed(f.low, "%.8f", rows[i].low);
        printed(f.high, "%.8f", rows[i].high);
        printed(f.l2, "%.8f", rows[i].l2);
    }
}

/* The one-dimensional case of the published convergence table: 440 * parts
 * cells of size 1 / parts, with Courant number `courant`, up to time 1. */
static struct nw_mpdata_case gaussian(int64_t parts, double courant)
{
    struct nw_mpdata_case c;

    assert_true(nw_mpdata_case_find("gaussian", &c));
    c.scale = (double)parts;
    c.courant = courant;
    c.size[0] = 440 * parts;
    c.dt = courant / c.scale;
    c.steps = (int64_t)lrint(1 / c.dt);
    return c;
}

/* Section 2 of the same paper: the error by cell size and Courant number. */
static void one_dimension_as_published(void **state)
{
    static const struct {
        int64_t parts;
        double courant;
        const char *error[4]; /* 1 pass, 2, limited, infinite gauge */
    } rows[] = {
        {1, .25, {"2.4324e-03", "1.0190e-03", "1.0964e-03", "6.4242e-04"}},
        {1, .5, {"1.7413e-03", "6.7177e-04", "9.2350e-04", "3.7199e-04"}},
        {2, .25, {"1.3464e-03", "2.8879e-04", "3.0871e-04", "1.4540e-04"}},
        {2, .5, {"9.2983e-04", "1.8046e-04", "2.3847e-04", "5.7080e-05"}},
        {4, .25, {"7.0846e-04", "7.4789e-05", "7.7960e-05", "3.3861e-05"}},
        {4, .5, {"4.8067e-04", "4.5640e-05", "5.8223e-05", "7.5324e-06"}},
        {8, .25, {"3.6346e-04", "1.8795e-05", "2.0821e-05", "8.2640e-06"}},
        {8, .5, {"2.4443e-04", "1.1357e-05", "1.3982e-05", "9.5385e-07"}},
        {16, .25, {"1.8410e-04", "4.6912e-06", "5.2131e-06", "2.0525e-06"}},
        {16, .5, {"1.2327e-04", "2.8223e-06", "3.3516e-06", "1.1960e-07"}},
    };

    int count = (int)(sizeof rows / sizeof *rows);
    int step = share_step(count, "rows of one dimension");

    (void)state;
    for (int i = 0; i * step < count; i++)
        for (int variant = 0; variant < 4; variant++) {
            struct nw_mpdata_options o = NW_MPDATA_OPTIONS_INIT;
            struct nw_mpdata_case c = gaussian(rows[i].parts, rows[i].courant);
            o.passes = variant ? 2 : 1;
            o.limited = variant == 2;
            o.infinite_gauge = variant == 3;
            // the state after time 1 is that of the start, shifted by one unit
            double *exact = malloc((size_t)c.size[0] * sizeof *exact);
            assert_non_null(exact);
            for (int64_t x = 0; x < c.size[0]; x++) {
                const int64_t at[3] = {x - rows[i].parts, 0, 0};
                exact[x] = c.value(&c, NW_MPDATA_X, at);
            }
            struct figures f = run_case(&c, o, exact);
            printed(f.l2, "%.4e", rows[i].error[variant]);
            free(exact);
        }
}

static const struct nw_mpdata_options variants[] = {
    {.passes = 1},
    {.passes = 2},
    {.passes = 2, .limited = true},
    {.passes = 2, .infinite_gauge = true},
    {.passes = 2, .infinite_gauge = true, .limited = true},
    {.passes = 2, .divergent = true, .limited = true},
    {.passes = 2, .divergent = true, .infinite_gauge = true},
    {.passes = 2, .fast = true, .limited = true},
    {.passes = 2, .fast = true, .infinite_gauge = true, .divergent = true},
    {.passes = 2, .single = true, .limited = true},
    {.passes = 2, .single = true, .fast = true, .limited = true},
    {.passes = 3},
    {.passes = 4, .limited = true},
    {.passes = 2, .third_order = true},
    {.passes = 3, .third_order = true, .limited = true},
};
#define VARIANTS (sizeof variants / sizeof *variants)

/* The state of the vortex on a small grid of uneven sizes after some steps. */
static double *vortex(struct nw_mpdata_options o, enum nw_mpdata_border border,
                      int64_t steps)
{
    const int64_t size[3] = {18, 22, 13};
    struct nw_mpdata_case c;
    nw_mpdata *s = NULL;
    double *values;

    assert_true(nw_mpdata_case_find("vortex", &c));
    o.size = sizeof o;
    set_borders(&o, border);
    MUST(nw_mpdata_new(size, &o, &s));
    for (int f = 0; f < NW_MPDATA_FIELD_COUNT; f++) {
        enum nw_mpdata_field field = (enum nw_mpdata_field)f;
        int64_t n[3], w[3];
        for (int a = 0; a < 3; a++)
            n[a] = size[a] + (f == NW_MPDATA_U1 + a);
        values = malloc(nw_mpdata_count(s, field) * sizeof *values);
        double *next = values;
        for (w[0] = 0; w[0] < n[0]; w[0]++)
            for (w[1] = 0; w[1] < n[1]; w[1]++)
                for (w[2] = 0; w[2] < n[2]; w[2]++) {
                    int64_t at[3];
                    for (int a = 0; a < 3; a++) // as a periodic grid
                        at[a] = w[a] % size[a];
                    *next++ = c.value(&c, field, at);
                }
        MUST(nw_mpdata_put(s, field, values));
        free(values);
    }
    nw_mpdata_step(s, steps);
    values = values_of(s);
    nw_mpdata_free(s);
    return values;
}

static void same_bits(struct nw_mpdata_options a, struct nw_mpdata_options b,
                      enum nw_mpdata_border border)
{
    double *x = vortex(a, border, 6), *y = vortex(b, border, 6);

    for (int i = 0; i < 18 * 22 * 13; i++)
        assert_true(isfinite(x[i]));
    assert_memory_equal(x, y, 18 * 22 * 13 * sizeof *x);
    free(x);
    free(y);
}

static void blocks_and_stages_agree(void **state)
{
    (void)state;
    for (size_t v = 0; v < VARIANTS; v++)
        for (int border = 0; border < 2; border++) {
            struct nw_mpdata_options a = variants[v], b = variants[v];
            a.path = NW_MPDATA_STAGES;
            same_bits(a, b, (enum nw_mpdata_border)border);
        }
}

static void threads_and_blocks_change_nothing(void **state)
{
    (void)state;
    for (size_t v = 0; v < VARIANTS; v++)
        for (int border = 0; border < 2; border++) {
            struct nw_mpdata_options a = variants[v], b = variants[v];
            a.threads = 1;
            b.threads = 1 + (int32_t)v % 4;
            b.block = 4 + (int32_t)v % 5;
            same_bits(a, b, (enum nw_mpdata_border)border);
        }
}

/* Sets velocities on the faces that follow from a random stream function at the
 * nodes, so that the divergence is only that of rounding. */
static void solenoidal(nw_mpdata *s, struct nw_random *random, int64_t n)
{
    size_t cells = (size_t)(n * n * n);
    double *p = malloc(cells * sizeof *p), *q = malloc(cells * sizeof *q);
    double *u = malloc((size_t)((n + 1) * n * n) * sizeof *u);
    int64_t w[3];

    for (size_t i = 0; i < cells; i++) {
        p[i] = nw_random_unit(random) * 0.12;
        q[i] = nw_random_unit(random) * 0.12;
    }
#define AT(a, b, c) ((((a) % n) * n + (b) % n) * n + (c) % n)
    for (int axis = 0; axis < 3; axis++) {
        double *next = u;
        for (w[0] = 0; w[0] < n + (axis == 0); w[0]++)
            for (w[1] = 0; w[1] < n + (axis == 1); w[1]++)
                for (w[2] = 0; w[2] < n + (axis == 2); w[2]++) {
                    int64_t i = w[0], j = w[1], k = w[2];
                    double a = p[AT(i, j + 1, k)] - p[AT(i, j, k)];
                    double b = p[AT(i, j, k)] - p[AT(i + 1, j, k)];
                    double c = q[AT(i, j, k + 1)] - q[AT(i, j, k)];
                    double d = q[AT(i, j, k)] - q[AT(i, j + 1, k)];
                    *next++ = axis == 0 ? a : axis == 1 ? b + c : d;
                }
        MUST(nw_mpdata_put(s, (enum nw_mpdata_field)(NW_MPDATA_U1 + axis), u));
    }
#undef AT
    free(p);
    free(q);
    free(u);
}

static void keeps_mass_sign_and_extrema(void **state)
{
    enum { N = 14 };
    const int64_t size[3] = {N, N, N};
    struct nw_random random;
    int step = share_step(6, "ways to keep mass");

    (void)state;
    nw_random_init(&random, 20261121);
    for (int round = 0; round < 6; round += step) {
        struct nw_mpdata_options o = NW_MPDATA_OPTIONS_INIT;
        struct nw_mpdata_summary before, after;
        double values[N * N * N];
        nw_mpdata *s = NULL;
        o.limited = round % 3 != 0;
        o.fast = round >= 3;
        o.threads = 1;
        MUST(nw_mpdata_new(size, &o, &s));
        for (int i = 0; i < N * N * N; i++)
            values[i] = 0.5 + nw_random_unit(&random);
        MUST(nw_mpdata_put(s, NW_MPDATA_H, values));
        for (int i = 0; i < N * N * N; i++)
            values[i] =
                nw_random_below(&random, 4) ? 0 : nw_random_unit(&random);
        MUST(nw_mpdata_put(s, NW_MPDATA_X, values));
        solenoidal(s, &random, N);
        MUST(nw_mpdata_check(s, NULL));
        nw_mpdata_summary(s, &before);
        nw_mpdata_step(s, 500);
        nw_mpdata_summary(s, &after);
        assert_true(fabs(after.mass - before.mass) <= 1e-14 * before.mass);
        assert_true(after.low >= 0);
        if (o.limited) {
            assert_true(after.low >= before.low * (1 - 1e-13));
            assert_true(after.high <= before.high * (1 + 1e-13));
        }
        nw_mpdata_free(s);
    }
}

/* The error of the wave at time 1, where dt is a tenth of a cell. */
static double wave_error(int64_t n, struct nw_mpdata_options o)
{
    struct nw_mpdata_case c;
    struct figures f;

    assert_true(nw_mpdata_case_find("wave", &c));
    c.scale = (double)n;
    c.steps = 10 * n;
    c.size[0] = c.size[1] = c.size[2] = n;
    // with u = (1, 2, 3), the wave has moved by whole periods
    f = run_case(&c, o, NULL);
    return f.l2 * (double)c.steps;
}

static double order_of(struct nw_mpdata_options o, int64_t n)
{
    return log2(wave_error(n, o) / wave_error(2 * n, o));
}

static void converges(void **state)
{
    struct nw_mpdata_options o = NW_MPDATA_OPTIONS_INIT;
    bool all = share_step(2, "grids of the wave") == 1;

    (void)state;
    // these digits were computed once by an independent program
    printed(wave_error(16, o), "%.6e", "1.467323e-01");
    assert_true(!all || order_of(o, 16) > 1.8);
    o.limited = true;
    printed(wave_error(16, o), "%.6e", "1.470557e-01");
    o.limited = false;
    o.infinite_gauge = o.third_order = true;
    // the order is 2.2 from 10 to 20 cells and 2.9 from 20 to 40
    assert_true(!all || order_of(o, 16) > 2.5);
}

static void refuses(void **state)
{
    struct nw_mpdata_options o = NW_MPDATA_OPTIONS_INIT;
    int64_t size[3] = {3, 1, 1};
    double x[4] = {1, 2, 3};
    nw_mpdata *s = NULL;

    (void)state;
    MUST(nw_mpdata_new(size, &o, &s));
    x[1] = NAN;
    assert_int_equal(nw_mpdata_put(s, NW_MPDATA_X, x), NW_EFORMAT);
    assert_string_equal(nw_error_text(), "x at (1, 0, 0): nan is not a number");
    x[1] = -1;
    assert_int_equal(nw_mpdata_put(s, NW_MPDATA_X, x), NW_EFORMAT);
    x[1] = 0;
    assert_int_equal(nw_mpdata_put(s, NW_MPDATA_H, x), NW_EFORMAT);
    double u[4] = {0.2, 1.5, 0.1, 0.2};
    MUST(nw_mpdata_put(s, NW_MPDATA_U1, u));
    assert_int_equal(nw_mpdata_check(s, NULL), NW_EFORMAT);
    assert_non_null(strstr(nw_error_text(),
                           "Courant number 1.5 of cell (0, 0, 0), "
                           "summed over its axes, is above"));
    u[3] = 0.3;
    assert_int_equal(nw_mpdata_put(s, NW_MPDATA_U1, u), NW_EFORMAT);
    // the flow takes more out of the cell than it holds, so that -0.2 would
    // remain
    memcpy(u, (const double[]){0, -0.6, 0.6, 0}, sizeof u);
    MUST(nw_mpdata_put(s, NW_MPDATA_U1, u));
    assert_int_equal(nw_mpdata_check(s, NULL), NW_EFORMAT);
    assert_non_null(strstr(nw_error_text(),
                           "Courant number 1.2 of cell (1, 0, 0), "
                           "summed over its axes, is above"));
    memcpy(u, (const double[]){0, -0.5, 0.5, 0}, sizeof u);
    MUST(nw_mpdata_put(s, NW_MPDATA_U1, u));
    MUST(nw_mpdata_check(s, NULL));
    nw_mpdata_free(s);
    o.single = true; // in single precision, this h is 0
    MUST(nw_mpdata_new(size, &o, &s));
    const double h[3] = {1e-30, 1e-50, 1};
    assert_int_equal(nw_mpdata_put(s, NW_MPDATA_H, h), NW_EFORMAT);
    assert_string_equal(nw_error_text(), "h at (1, 0, 0): 1e-50 is too small "
                                         "for single precision");
    nw_mpdata_free(s);
    o.fast = true; // in this mode, squares of this h are infinite
    MUST(nw_mpdata_new(size, &o, &s));
    MUST(nw_mpdata_put(s, NW_MPDATA_H, (const double[3]){1, 1e18, 1}));
    assert_int_equal(
        nw_mpdata_put(s, NW_MPDATA_H, (const double[3]){1, 1, 1e19}),
        NW_EFORMAT);
    nw_mpdata_free(s);
    o.fast = o.single = false;
    size[1] = 0;
    assert_int_equal(nw_mpdata_new(size, &o, &s), NW_EINVAL);
    size[1] = 1;
    o.passes = 0;
    assert_int_equal(nw_mpdata_new(size, &o, &s), NW_EINVAL);
    o.passes = 2;
    o.border[0][0] = NW_MPDATA_OPEN;
    assert_int_equal(nw_mpdata_new(size, &o, &s), NW_EINVAL);
}

/* An unstable flow makes a value infinity less infinity. */
static void summary_tells_of_no_number(void **state)
{
    const int64_t size[3] = {3, 1, 1};
    struct nw_mpdata_options o = NW_MPDATA_OPTIONS_INIT;
    struct nw_mpdata_summary sum;
    nw_mpdata *s = NULL;

    (void)state;
    o.single = true;
    o.passes = 1;
    o.threads = 1;
    MUST(nw_mpdata_new(size, &o, &s));
    MUST(nw_mpdata_put(s, NW_MPDATA_H, (const double[3]){1, 1, 1}));
    MUST(nw_mpdata_put(s, NW_MPDATA_X, (const double[3]){3e38, 3e38, 0}));
    MUST(nw_mpdata_put(s, NW_MPDATA_U1, (const double[4]){0, 2, 2, 0}));
    nw_mpdata_step(s, 1);
    nw_mpdata_summary(s, &sum);
    assert_true(isnan(sum.low) && isnan(sum.high) && isnan(sum.mass));
    nw_mpdata_free(s);
}

/* A part must have the cells that its neighbour reads, at whichever side the
 * neighbour is. */
static void parts_have_a_halo(void **state)
{
    (void)state;
    for (int axis = 0; axis < 2; axis++)
        for (int sides = 1; sides < 4; sides++) {
            struct nw_mpdata_options o = NW_MPDATA_OPTIONS_INIT;
            int64_t size[3] = {8, 8, 8};
            nw_mpdata *s = NULL;
            set_borders(&o, NW_MPDATA_OPEN);
            for (int side = 0; side < 2; side++)
                if (sides & 1 << side)
                    o.border[axis][side] = NW_MPDATA_NEIGHBOUR;
            size[axis] = 2;
            MUST(nw_mpdata_new(size, &o, &s));
            nw_mpdata_free(s);
            size[axis] = 1;
            assert_int_equal(nw_mpdata_new(size, &o, &s), NW_EINVAL);
            assert_string_equal(
                nw_error_text(),
                axis ? "1 cells along axis 2 are fewer than the halo of 2"
                     : "1 cells along axis 1 are fewer than the halo of 2");
        }
}

/* A solver with a concentration of mass at open sides and a flow along them. */
static nw_mpdata *blob(void)
{
    const int64_t size[3] = {9, 11, 6};
    struct nw_mpdata_options o = NW_MPDATA_OPTIONS_INIT;
    nw_mpdata *s = NULL;
    double values[10 * 12 * 7];

    o.limited = true;
    set_borders(&o, NW_MPDATA_OPEN);
    MUST(nw_mpdata_new(size, &o, &s));
    for (int f = NW_MPDATA_X; f <= NW_MPDATA_U3; f++) {
        for (int i = 0; i < 10 * 12 * 7; i++)
            values[i] = f == NW_MPDATA_X ? 1 + i % 7 : 0.04 * (i % 3) - 0.03;
        MUST(nw_mpdata_put(s, (enum nw_mpdata_field)f, values));
    }
    return s;
}

/* A box that ends one row before an open side needs the cells beyond it. */
static void boxes_change_nothing(void **state)
{
    nw_mpdata *a = blob(), *b = blob();

    (void)state;
    for (int step = 0; step < 3; step++)
        for (int half = 0; half < 2; half++) {
            int64_t low = half ? 10 : 0, high = half ? 11 : 10;
            if (!half)
                nw_mpdata_fill(b, NW_MPDATA_X);
            nw_mpdata_advance(b, (const int64_t[2]){0, low},
                              (const int64_t[2]){8, high});
            nw_mpdata_advance(b, (const int64_t[2]){8, low},
                              (const int64_t[2]){9, high});
            if (half)
                nw_mpdata_turn(b);
        }
    nw_mpdata_step(a, 3);
    double *x = values_of(a), *y = values_of(b);
    assert_memory_equal(x, y, 9 * 11 * 6 * sizeof *x);
    free(x);
    free(y);
    nw_mpdata_free(a);
    nw_mpdata_free(b);
}

/* The caller may write cells between two steps; the next step uses the new
 * values. */
static void cells_may_be_written(void **state)
{
    nw_mpdata *a = blob(), *b = blob();

    (void)state;
    nw_mpdata_step(a, 1);
    nw_mpdata_step(b, 1);
    double *x = values_of(a);
    for (int i = 0; i < 9 * 11 * 6; i += 6)
        x[i] += 1;
    MUST(nw_mpdata_put(a, NW_MPDATA_X, x));
    free(x);
    struct nw_mpdata_cells c = nw_mpdata_cells(b, NW_MPDATA_X);
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 11; j++)
            *(double *)((char *)c.base + (size_t)(i + c.ghost) * c.plane +
                        (size_t)(j + c.ghost) * c.row) += 1;
    nw_mpdata_step(a, 2);
    nw_mpdata_step(b, 2);
    x = values_of(a);
    double *y = values_of(b);
    assert_memory_equal(x, y, 9 * 11 * 6 * sizeof *x);
    free(x);
    free(y);
    nw_mpdata_free(a);
    nw_mpdata_free(b);
}

static void states_its_halo(void **state)
{
    struct nw_mpdata_options o = NW_MPDATA_OPTIONS_INIT;

    (void)state;
    assert_int_equal(nw_mpdata_halo(&o), 2);
    o.limited = true;
    assert_int_equal(nw_mpdata_halo(&o), 3);
    o.passes = 4;
    assert_int_equal(nw_mpdata_halo(&o), 7);
    o.third_order = true;
    o.passes = 2;
    assert_int_equal(nw_mpdata_halo(&o), 4);
}

/* Sets all fields to random values that repeat with the given periods along the
 * axes, and computes some steps. */
static double *repeated(struct nw_mpdata_options o, const int64_t size[3],
                        const int64_t period[3])
{
    nw_mpdata *s = NULL;

    o.size = sizeof o;
    MUST(nw_mpdata_new(size, &o, &s));
    for (int f = 0; f < NW_MPDATA_FIELD_COUNT; f++) {
        enum nw_mpdata_field field = (enum nw_mpdata_field)f;
        double *values = malloc(nw_mpdata_count(s, field) * sizeof *values);
        double *next = values;
        int64_t n[3];
        for (int a = 0; a < 3; a++)
            n[a] = size[a] + (f == NW_MPDATA_U1 + a);
        for (int64_t i = 0; i < n[0]; i++)
            for (int64_t j = 0; j < n[1]; j++)
                for (int64_t k = 0; k < n[2]; k++) {
                    struct nw_random random;
                    nw_random_init(
                        &random,
                        (uint64_t)((i % period[0] * 64 + j % period[1]) * 64 +
                                   k % period[2] + 1));
                    for (int skip = 0; skip < f; skip++)
                        nw_random_unit(&random);
                    double value = nw_random_unit(&random);
                    *next++ = f == NW_MPDATA_X || f == NW_MPDATA_H
                                  ? 1 + value
                                  : 0.1 * value - 0.04;
                }
        MUST(nw_mpdata_put(s, field, values));
        free(values);
    }
    MUST(nw_mpdata_check(s, NULL));
    nw_mpdata_step(s, 3);
    double *x = values_of(s);
    nw_mpdata_free(s);
    return x;
}

/* A periodic axis may have fewer cells than the halo: the result is that of a
 * grid in which these cells repeat. */
static void periodic_axes_may_be_short(void **state)
{
    (void)state;
    for (size_t v = 0; v < VARIANTS; v++)
        for (int axis = 0; axis < 3; axis++)
            for (int64_t cells = 1; cells < 4; cells++) {
                int64_t few[3] = {5, 6, 7}, many[3] = {5, 6, 7};
                few[axis] = cells;
                many[axis] = 12;
                double *x = repeated(variants[v], few, few);
                double *y = repeated(variants[v], many, few);
                for (int64_t i = 0; i < many[0]; i++)
                    for (int64_t j = 0; j < many[1]; j++)
                        for (int64_t k = 0; k < many[2]; k++) {
                            double a =
                                x[(i % few[0] * few[1] + j % few[1]) * few[2] +
                                  k % few[2]];
                            double b = y[(i * many[1] + j) * many[2] + k];
                            if (!(a == b))
                                fail_msg("variant %zu, axis %d, %d cells: "
                                         "%.17g, not %.17g",
                                         v, axis, (int)cells, a, b);
                        }
                free(x);
                free(y);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_its_halo),
        cmocka_unit_test(refuses),
        cmocka_unit_test(summary_tells_of_no_number),
        cmocka_unit_test(parts_have_a_halo),
        cmocka_unit_test(periodic_axes_may_be_short),
        cmocka_unit_test(boxes_change_nothing),
        cmocka_unit_test(cells_may_be_written),
        cmocka_unit_test(blocks_and_stages_agree),
        cmocka_unit_test(threads_and_blocks_change_nothing),
        cmocka_unit_test(keeps_mass_sign_and_extrema),
        cmocka_unit_test(one_dimension_as_published),
        cmocka_unit_test(converges),
        cmocka_unit_test(cone_as_published),
        cmocka_unit_test(sphere_as_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

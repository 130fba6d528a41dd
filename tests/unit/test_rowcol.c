/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of arrangements of processes: the published costs with the bandwidths
 * that were fitted to them, and the search against every order of small
 * problems. */
#include "base/random.h"
#include "rowcol/rowcol.h"
#include "support/share.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MUST(call) assert_int_equal(call, NW_OK)
#define SIDE (512.0 * 64 * 3 * 8)

static struct nw_bandwidths fitted(const char *name)
{
    struct nw_bandwidths b = {0};
    char path[512];

    snprintf(path, sizeof path, "%s/data/clusters/%s.bandwidths",
             getenv("NW_SOURCE"), name);
    MUST(nw_bandwidths_read(path, &b));
    return b;
}

static double sum_of(const struct nw_rowcol *a)
{
    return a->cost.horizontal + a->cost.vertical;
}

/* The cost of 2 x 6 by columns, as in the paper's picture. */
static double before(const struct nw_rowcol_problem *problem)
{
    int32_t process[12];
    struct nw_rowcol a = {.rows = 2, .columns = 6, .process = process};

    for (int32_t i = 0; i < 2; i++)
        for (int32_t j = 0; j < 6; j++)
            process[i * 6 + j] = j * 2 + i;
    nw_rowcol_evaluate(problem, &a, &a.cost);
    return sum_of(&a);
}

static void inside_a_cluster(void **state)
{
    struct nw_bandwidths b = fitted("mpdata-intra");
    struct nw_rowcol_problem p = {&b, SIDE, SIDE, .seed = 1};
    struct nw_rowcol a, best;

    (void)state;
    assert_int_equal(lrint(before(&p)), 65658);
    MUST(nw_rowcol_paper(&p, &a));
    assert_int_equal(lrint(sum_of(&a)), 18535);
    assert_int_equal(a.rows, 6);
    for (int32_t i = 0; i < 12; i++) // the paper's second picture
        assert_int_equal(a.process[i], i / 2 + (i % 2) * 6);
    // 12 x 1 has eleven links that carry a whole side
    p.all_shapes = true;
    MUST(nw_rowcol_best(&p, &best));
    assert_int_equal(lrint(sum_of(&best)), lrint(11 * 27017.0 / 24));
    free(a.process);
    free(best.process);
    nw_bandwidths_fini(&b);
}

static void between_sites(void **state)
{
    struct nw_bandwidths b = fitted("mpdata-inter");
    struct nw_rowcol_problem p = {&b, SIDE, SIDE, .seed = 1};
    struct nw_rowcol a, best;

    (void)state;
    assert_int_equal(lrint(before(&p)), 22424946);
    MUST(nw_rowcol_paper(&p, &a));
    assert_int_equal(lrint(sum_of(&a)), 2143978);
    assert_int_equal(a.iterations, 1);
    free(a.process);
    // optimal among shapes of more than one row and column, by enumeration
    MUST(nw_rowcol_best(&p, &best));
    assert_int_equal(lrint(sum_of(&best)), 2143978);
    free(best.process);
    p.all_shapes = true;
    MUST(nw_rowcol_best(&p, &best));
    assert_int_equal(lrint(sum_of(&best)), 920879);
    assert_int_equal(best.columns, 1);
    free(best.process);
    nw_bandwidths_fini(&b);
}

/* A grid that is too small for six rows, then one for which no shape
 * remains. */
static void bounded_shapes(void **state)
{
    struct nw_bandwidths b = fitted("mpdata-intra");
    struct nw_rowcol_problem p = {&b, SIDE, SIDE, .seed = 1, .most = {4, 0}};
    struct nw_rowcol a;

    (void)state;
    MUST(nw_rowcol_paper(&p, &a));
    assert_int_equal(a.rows, 4);
    free(a.process);
    p.all_shapes = true;
    MUST(nw_rowcol_best(&p, &a));
    assert_int_equal(a.rows, 4);
    free(a.process);
    p.all_shapes = false;
    p.most[0] = 1; // only a single row remains
    MUST(nw_rowcol_paper(&p, &a));
    assert_int_equal(a.columns, 12);
    free(a.process);
    p.most[1] = 6;
    assert_int_equal(nw_rowcol_best(&p, &a), NW_EINVAL);
    nw_bandwidths_fini(&b);
}

/* With the speeds 1 in the first row and 3 in the second, the rows get a
 * quarter and three quarters of the height. The links of a row carry bytes in
 * proportion. */
static void unequal_speeds(void **state)
{
    int32_t group[4] = {0}, process[4] = {0, 1, 2, 3};
    double link[16], height[2], width[2];
    const double speed[4] = {1, 1, 3, 3};
    struct nw_bandwidths b = {4, group, link, link};
    struct nw_rowcol_problem p = {&b, 4000, 800, .speed = speed};
    struct nw_rowcol a = {.rows = 2, .columns = 2, .process = process};

    (void)state;
    for (int i = 0; i < 16; i++)
        link[i] = 1e6;
    link[2 * 4 + 3] = 2e6;
    nw_rowcol_shares(&p, &a, height, width);
    assert_float_equal(height[0], 0.25, 1e-12);
    assert_float_equal(width[0], 0.5, 1e-12);
    nw_rowcol_evaluate(&p, &a, &a.cost);
    assert_float_equal(a.cost.horizontal, 1000 + 3000 / 2.0, 1e-6);
    assert_float_equal(a.cost.vertical, 2 * 400.0, 1e-6);
    p.speed = NULL;
    nw_rowcol_evaluate(&p, &a, &a.cost);
    assert_float_equal(a.cost.horizontal, 2000 + 2000 / 2.0, 1e-6);
}

static void turn_over(struct nw_rowcol *a, int32_t x, int32_t y)
{
    int32_t t = a->process[x];

    a->process[x] = a->process[y];
    a->process[y] = t;
}

/* Whether the two processes of the last column are in the cheaper order. */
static bool stands_well(const struct nw_rowcol_problem *p, struct nw_rowcol *a)
{
    double now = nw_rowcol_figure_of(p, a);

    turn_over(a, 1, 3);
    double then = nw_rowcol_figure_of(p, a);
    turn_over(a, 1, 3);
    return now <= then * (1 + 1e-12);
}

/* The heuristic leaves the two processes of the last column in the order that
 * is cheaper by the whole cost. The whole cost includes the heights and widths
 * that follow from the speeds, and the links that close a ring. Then the
 * heuristic orders the columns. */
static void heuristic_counts_all(void **state)
{
    int32_t group[4] = {0, 1, 2, 3};
    double across[16], along[16], speed[4];
    struct nw_bandwidths b = {4, group, across, along};
    struct nw_random r;

    (void)state;
    nw_random_init(&r, 7);
    for (int round = 0; round < 200; round++) {
        struct nw_rowcol_problem p = {&b, 4000, 800, .speed = speed};
        struct nw_rowcol a;
        p.periodic = round % 2;
        for (int i = 0; i < 16; i++) {
            across[i] = 1e6 * (1 + 9 * nw_random_unit(&r));
            along[i] = 1e6 * (1 + 9 * nw_random_unit(&r));
        }
        for (int i = 0; i < 4; i++)
            speed[i] = 1 + 9 * nw_random_unit(&r);
        MUST(nw_rowcol_paper(&p, &a));
        assert_int_equal(a.rows, 2);
        bool well = stands_well(&p, &a);
        turn_over(&a, 0,
                  1); // the columns as they may have been before the last step
        turn_over(&a, 2, 3);
        assert_true(well || stands_well(&p, &a));
        free(a.process);
    }
}

enum { MAX = 12 };

static void every_order(const struct nw_rowcol_problem *p, struct nw_rowcol *a,
                        int32_t fixed, double *least)
{
    int32_t count = p->bandwidths->count;

    if (fixed == count) {
        *least = fmin(*least, nw_rowcol_figure_of(p, a));
        return;
    }
    for (int32_t i = fixed; i < count; i++) {
        turn_over(a, fixed, i);
        every_order(p, a, fixed + 1, least);
        turn_over(a, fixed, i);
    }
}

static double least_of_all(const struct nw_rowcol_problem *p)
{
    int32_t order[MAX], count = p->bandwidths->count;
    struct nw_rowcol a = {.process = order};
    double least = INFINITY;

    for (a.rows = 1; a.rows <= count; a.rows++) {
        if (!nw_rowcol_allows(p, a.rows))
            continue;
        a.columns = count / a.rows;
        for (int32_t i = 0; i < count; i++)
            order[i] = i;
        every_order(p, &a, 0, &least);
    }
    return least;
}

struct random_net {
    int32_t group[MAX];
    double horizontal[MAX * MAX], vertical[MAX * MAX], speed[MAX];
    struct nw_bandwidths b;
};

static void draw(struct random_net *n, int32_t count, struct nw_random *random)
{
    n->b = (struct nw_bandwidths){count, n->group, n->horizontal, n->vertical};
    for (int32_t i = 0; i < count; i++) {
        n->group[i] = 3 * i / count;
        n->speed[i] = 1 + 3 * nw_random_unit(random);
    }
    for (int32_t i = 0; i < count * count; i++) {
        n->horizontal[i] = 1e6 + 1e8 * nw_random_unit(random);
        n->vertical[i] = 1e6 + 1e9 * nw_random_unit(random);
    }
}

static void check_against_all(const struct nw_rowcol_problem *p)
{
    double least = least_of_all(p);
    struct nw_rowcol paper, best;

    MUST(nw_rowcol_paper(p, &paper));
    MUST(nw_rowcol_best(p, &best));
    assert_true(fabs(nw_rowcol_figure(p, &best.cost) - least) <= 1e-9 * least);
    assert_true(nw_rowcol_figure(p, &paper.cost) >= least * (1 - 1e-9));
    free(paper.process);
    free(best.process);
}

static void search_finds_the_optimum(void **state)
{
    static const int32_t counts[] = {6, 5, 6, 7, 6, 8};
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 8);
    for (int round = 0; round < 48; round++) {
        int32_t count = counts[round % 6];
        struct random_net n;
        draw(&n, count, &random);
        struct nw_rowcol_problem p = {&n.b, 3e6, 2e6, .seed = 1};
        p.all_shapes = round % 2;
        p.periodic = round / 6 % 2;
        p.objective = (enum nw_rowcol_objective)(round / 6 % 4 > 1);
        p.speed = round > 23 && count < 8 ? n.speed : NULL;
        check_against_all(&p);
    }
}

/* Every line has three processes, the most for which the search proves its
 * result; the result is compared with a full enumeration, as a chain and as a
 * ring. */
static void proves_three_abreast(void **state)
{
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 9);
    for (int round = 0; round < 2; round++) {
        struct random_net n;
        draw(&n, 9, &random);
        struct nw_rowcol_problem p = {&n.b, 3e6, 2e6, .periodic = round};
        check_against_all(&p);
    }
}

/* Twelve processes with one hidden order whose links are the fastest; other
 * links are only slightly slower. */
static void finds_a_hidden_order(void **state)
{
    static const int32_t rows[] = {3, 4, 2, 6, 12, 1};
    int step = share_step(24, "hidden orders");
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 10);
    for (int round = 0; round < 24; round += step) {
        struct random_net n;
        int32_t order[12];
        struct nw_rowcol hidden = {.rows = rows[round % 6], .process = order};
        struct nw_rowcol_problem p = {&n.b, 3e6, 2e6, .periodic = round > 11};
        struct nw_rowcol a = hidden;
        draw(&n, 12, &random);
        hidden.columns = 12 / hidden.rows;
        for (int32_t i = 0; i < 12; i++)
            order[i] = i;
        nw_random_shuffle(&random, order, 12);
        for (int32_t i = 0; i < 144; i++)
            n.horizontal[i] = n.vertical[i] =
                1e9 / (1 + nw_random_unit(&random));
        for (int32_t i = 0; i < 12; i++) {
            int32_t c = hidden.columns, right = i / c * c + (i + 1) % c;
            n.horizontal[order[i] * 12 + order[right]] = 1e9;
            n.vertical[order[i] * 12 + order[(i + c) % 12]] = 1e9;
        }
        a.columns = hidden.columns;
        a.process = (int32_t[12]){0};
        assert_true(nw_rowcol_prove_sum(&p, &a));
        double least = nw_rowcol_figure_of(&p, &hidden);
        assert_true(fabs(nw_rowcol_figure_of(&p, &a) - least) <= 1e-9 * least);
    }
}

static void refuses_bad_files(void **state)
{
    static const char *const texts[][2] = {
        {"", "empty"},
        {"nodewise bandwidths 2\n", "expected 'nodewise bandwidths 1'"},
        {"nodewise bandwidths 1\ngroup a 2\n", "no bandwidths"},
        {"nodewise bandwidths 1\ngroup a 2\ngroup b 1\nbetween a a 1 1\n",
         "no bandwidths from process 0 to 2"},
        {"nodewise bandwidths 1\ngroup a 2\nbetween a a 0 1\n", "not positive"},
        {"nodewise bandwidths 1\ngroup a 2\nbetween a a -1 1\n", ":3: "},
        {"nodewise bandwidths 1\ngroup a 2\nbetween a c 1 1\n", "two groups"},
        {"nodewise bandwidths 1\ngroup a 2\npair 0 2 1 1\n", "below 2"},
        {"nodewise bandwidths 1\ngroup a 9999999\n", "processes"},
        {"nodewise bandwidths 1\npair 0 1 1 1\n", "no groups"},
    };
    char path[] = "/tmp/rowcol-XXXXXX";
    int file = mkstemp(path);

    (void)state;
    assert_true(file >= 0);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct nw_bandwidths b = {0};
        FILE *out = fopen(path, "w");
        fputs(texts[i][0], out);
        fclose(out);
        assert_int_equal(nw_bandwidths_read(path, &b), NW_EFORMAT);
        if (!strstr(nw_error_text(), texts[i][1]))
            fail_msg("'%s' lacks '%s'", nw_error_text(), texts[i][1]);
        assert_null(b.group);
    }
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inside_a_cluster),
        cmocka_unit_test(between_sites),
        cmocka_unit_test(bounded_shapes),
        cmocka_unit_test(unequal_speeds),
        cmocka_unit_test(heuristic_counts_all),
        cmocka_unit_test(search_finds_the_optimum),
        cmocka_unit_test(proves_three_abreast),
        cmocka_unit_test(finds_a_hidden_order),
        cmocka_unit_test(refuses_bad_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of dense quadratic assignment: every search against all permutations of
 * small problems, changes against costs from scratch, and published optima. */
#include "base/random.h"
#include "map/qap/linear_assignment.h"
#include "map/qap/qap.h"
#include "support/nugent.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MUST(call) assert_int_equal(call, NW_OK)
#define MAX 12

enum shape { SYMMETRIC, FLOW_SYMMETRIC, LOPSIDED, FRACTIONS, SHAPE_COUNT };

static double draw(struct nw_random *random, enum shape shape)
{
    if (shape == FRACTIONS)
        return nw_random_unit(random);
    return (double)nw_random_below(random, 20);
}

/* Makes a random problem, sometimes with a diagonal, with empty items, and with
 * items that are fixed. */
static void make_problem(struct nw_qap *qap, int32_t n, uint64_t seed)
{
    struct nw_random random;
    enum shape shape = (enum shape)(seed % SHAPE_COUNT);

    nw_random_init(&random, seed);
    MUST(nw_qap_init(qap, n));
    qap->movable = n - (seed % 5 == 0);
    qap->real = qap->movable - (int32_t)(seed % 3);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n; j++) {
            bool flows = (i < qap->real || i >= qap->movable) &&
                         (j < qap->real || j >= qap->movable);

            if (i == j && seed % 4 != 1)
                continue;
            if (flows)
                qap->flow[i * n + j] = draw(&random, shape);
            qap->distance[i * n + j] = draw(&random, shape);
        }
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < i; j++) {
            if (shape == SYMMETRIC || shape == FLOW_SYMMETRIC)
                qap->flow[i * n + j] = qap->flow[j * n + i];
            if (shape == SYMMETRIC)
                qap->distance[i * n + j] = qap->distance[j * n + i];
        }
    nw_qap_finish(qap);
}

static void try_all(const struct nw_qap *qap, int32_t at, int32_t *place,
                    double *best)
{
    if (at == qap->movable) {
        *best = fmin(*best, nw_qap_cost(qap, place));
        return;
    }
    for (int32_t i = at; i < qap->movable; i++) {
        int32_t keep = place[at];

        place[at] = place[i];
        place[i] = keep;
        try_all(qap, at + 1, place, best);
        place[i] = place[at];
        place[at] = keep;
    }
}

static void identity(int32_t n, int32_t *place)
{
    for (int32_t i = 0; i < n; i++)
        place[i] = i;
}

static double optimum(const struct nw_qap *qap)
{
    int32_t place[MAX];
    double best = INFINITY;

    identity(qap->n, place);
    try_all(qap, 0, place, &best);
    return best;
}

static void check_valid(const struct nw_qap *qap, const int32_t *place)
{
    bool seen[64] = {false};

    for (int32_t i = 0; i < qap->n; i++) {
        assert_in_range(place[i], 0, qap->n - 1);
        assert_false(seen[place[i]]);
        seen[place[i]] = true;
        if (i >= qap->movable)
            assert_int_equal(place[i], i);
    }
}

static void assert_near(double a, double b)
{
    if (fabs(a - b) > 1e-9 * (1 + fabs(b)))
        fail_msg("%.12g is not %.12g", a, b);
}

static void test_exact_is_the_optimum(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct nw_qap_exact_search exact = {.nodes_most = UINT64_MAX};
        int32_t place[MAX];
        struct nw_qap qap;

        make_problem(&qap, 3 + (int32_t)(seed % 5), seed);
        identity(qap.n, place);
        MUST(nw_qap_gilmore_lawler(&qap, &exact, place));
        assert_true(exact.proven);
        check_valid(&qap, place);
        assert_near(nw_qap_cost(&qap, place), optimum(&qap));
        nw_qap_fini(&qap);
    }
}

static void test_searches_find_the_optimum(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        int32_t place[MAX];
        struct nw_qap_memetic memetic;
        struct nw_qap qap;
        double best;

        make_problem(&qap, 4 + (int32_t)(seed % 4), seed);
        best = optimum(&qap);
        identity(qap.n, place);
        MUST(nw_qap_memetic_init(&memetic, &qap, seed, place));
        for (int i = 0; i < 20; i++)
            nw_qap_memetic_next(&memetic);
        check_valid(&qap, memetic.best);
        assert_near(nw_qap_cost(&qap, memetic.best), memetic.best_cost);
        assert_near(memetic.best_cost, best);
        MUST(nw_qap_anneal(&qap, seed, 5000, place, &best));
        check_valid(&qap, place);
        assert_near(nw_qap_cost(&qap, place), best);
        nw_qap_memetic_fini(&memetic);
        nw_qap_fini(&qap);
    }
}

/* Tabu search returns the cost that it updated by changes alone; after long
 * walks on problems of whole numbers, this must be exactly the cost from
 * scratch. */
static void test_changes_are_costs(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 24; seed++) {
        int32_t place[MAX], before[MAX];
        struct nw_random random;
        struct nw_robust_tabu *tabu;
        struct nw_qap qap;
        double cost;

        make_problem(&qap, MAX, seed);
        identity(qap.n, place);
        nw_random_init(&random, seed);
        MUST(nw_robust_tabu_new(&qap, &tabu));
        memcpy(before, place, sizeof place);
        cost = nw_robust_tabu_run(tabu, &random, 500, place);
        check_valid(&qap, place);
        assert_near(cost, nw_qap_cost(&qap, place));
        assert_true(cost <= nw_qap_cost(&qap, before));
        /* no swap improves the result, since all swaps of the best were
         * tried */
        for (int32_t i = 0; i < qap.movable; i++)
            for (int32_t j = 0; j < i; j++) {
                memcpy(before, place, sizeof place);
                before[i] = place[j];
                before[j] = place[i];
                assert_true(nw_qap_cost(&qap, before) >= cost - 1e-9);
            }
        nw_robust_tabu_free(tabu);
        nw_qap_fini(&qap);
    }
}

static void test_published_optimum(void **state)
{
    struct nw_qap_exact_search exact = {.nodes_most = UINT64_MAX};
    int32_t place[NUGENT];
    struct nw_qap_memetic memetic;
    struct nw_qap qap;

    (void)state;
    MUST(nw_qap_init(&qap, NUGENT));
    nugent_fill(qap.flow, qap.distance);
    nw_qap_finish(&qap);
    identity(NUGENT, place);
    MUST(nw_qap_memetic_init(&memetic, &qap, 1, place));
    for (int i = 0; i < 12; i++)
        nw_qap_memetic_next(&memetic);
    assert_near(memetic.best_cost, NUGENT_OPTIMUM);
    MUST(nw_qap_gilmore_lawler(&qap, &exact, place));
    assert_true(exact.proven);
    assert_near(nw_qap_cost(&qap, place), NUGENT_OPTIMUM);
    nw_qap_memetic_fini(&memetic);
    nw_qap_fini(&qap);
}

static double cheapest(const double *cost, int n, int row, unsigned used)
{
    double best = INFINITY;

    if (row == n)
        return 0;
    for (int j = 0; j < n + 1; j++)
        if (!(used & 1u << j))
            best = fmin(best, cost[row * (n + 1) + j] +
                                  cheapest(cost, n, row + 1, used | 1u << j));
    return best;
}

/* Five rows, six columns. */
static void test_assignment(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        double cost[30], best, sum = 0;
        int32_t column[5];
        struct nw_random random;
        unsigned used = 0;

        nw_random_init(&random, seed);
        for (int i = 0; i < 30; i++)
            cost[i] = (double)nw_random_below(&random, 30);
        best = cheapest(cost, 5, 0, 0);
        assert_near(nw_linear_assignment(cost, 5, 6, column), best);
        for (int i = 0; i < 5; i++) {
            assert_false(used & 1u << column[i]);
            used |= 1u << column[i];
            sum += cost[6 * i + column[i]];
        }
        assert_near(sum, 0); /* the chosen entries cost nothing beyond the
                                subtracted amounts */
    }
}

static void test_too_many_places_for_exact(void **state)
{
    struct nw_qap_exact_search exact = {.nodes_most = 1};
    int32_t place[65];
    struct nw_qap qap;

    (void)state;
    MUST(nw_qap_init(&qap, 65));
    nw_qap_finish(&qap);
    identity(65, place);
    assert_int_equal(nw_qap_gilmore_lawler(&qap, &exact, place), NW_EINVAL);
    nw_qap_fini(&qap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_is_the_optimum),
        cmocka_unit_test(test_searches_find_the_optimum),
        cmocka_unit_test(test_changes_are_costs),
        cmocka_unit_test(test_published_optimum),
        cmocka_unit_test(test_assignment),
        cmocka_unit_test(test_too_many_places_for_exact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

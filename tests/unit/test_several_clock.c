/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests with many ranks on an element and a clock that advances only when it is
 * read. At whatever reading the time ends, the result keeps its limits and the
 * clock is read only a few more times. A result that was not cut off is the
 * same as that for its number of steps. */
#include "map/kway/kway.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { SIDE = 24, N = SIDE * SIDE, K = 16, ARCS = 4 * SIDE * (SIDE - 1) };

/* A grid of ranks in rows, on four nodes of four elements each. */
struct scene {
    struct nw_graph graph;
    struct nw_kway_machine machine;
    size_t row[N + 1];
    struct nw_graph_arc arc[ARCS];
    int32_t size[N], capacity[K], in_order[N];
    int64_t load[N];
    double table[K * K], step[K], share[K];
    nw_graph_load limit[K];
};

static struct scene scene;
static uint64_t looks;

static uint64_t look(void)
{
    return ++looks;
}

static void join(struct scene *s, size_t *arcs, int32_t to)
{
    s->arc[(*arcs)++] = (struct nw_graph_arc){to, 2};
}

static void make_graph(struct scene *s)
{
    size_t arcs = 0;

    for (int32_t v = 0; v < N; v++) {
        int32_t x = v / SIDE, y = v % SIDE;

        if (x)
            join(s, &arcs, v - SIDE);
        if (y)
            join(s, &arcs, v - 1);
        if (y + 1 < SIDE)
            join(s, &arcs, v + 1);
        if (x + 1 < SIDE)
            join(s, &arcs, v + SIDE);
        s->row[v + 1] = arcs;
        s->load[v] = s->size[v] = 1;
        s->in_order[v] = v * K / N;
    }
    assert_int_equal(arcs, ARCS);
    s->graph = (struct nw_graph){
        .n = N, .row = s->row, .arc = s->arc, .size = s->size, .load = s->load};
}

static void make_machine(struct scene *s)
{
    for (int i = 0; i < K; i++) {
        s->capacity[i] = N;
        s->share[i] = N / K;
        s->limit[i] = N / K * 103 / 100;
        s->step[i] = i % 4 ? 1 : 10;
        for (int j = 0; j < K; j++)
            s->table[i * K + j] = i == j ? 0 : i / 4 == j / 4 ? 1 : 10;
    }
    s->machine = (struct nw_kway_machine){.k = K,
                                          .table = s->table,
                                          .step = s->step,
                                          .share = s->share,
                                          .limit = s->limit,
                                          .capacity = s->capacity};
}

static int set_up(void **state)
{
    (void)state;
    make_graph(&scene);
    make_machine(&scene);
    return 0;
}

/* Solves the problem until the clock has been read `end` times (0: no limit)
 * and with at most `steps`; the result is in `part`. */
static struct nw_budget solve(uint64_t end, uint64_t steps,
                              const int32_t *given, int32_t *part)
{
    struct nw_budget budget = {.effort = NW_EFFORT_DEFAULT,
                               .steps_most = steps,
                               .end_ns = end,
                               .now = look,
                               .threads = 1,
                               .anytime = true};
    struct nw_kway_run run = {.graph = &scene.graph,
                              .machine = &scene.machine,
                              .effort = {4, 2, 3, 4, 2, 30, 8, NULL},
                              .seed = 1,
                              .budget = &budget,
                              .given = given};

    looks = 0;
    assert_int_equal(nw_kway(&run, part), NW_OK);
    return budget;
}

static double cost_of(const int32_t *part)
{
    return nw_kway_cost(&scene.graph, &scene.machine, part);
}

static void check_limits(const int32_t *part)
{
    nw_graph_load load[K] = {0};

    for (int v = 0; v < N; v++)
        load[part[v]]++;
    for (int q = 0; q < K; q++)
        assert_true(load[q] <= scene.limit[q]);
}

/* How often the clock is read for one result that nothing cuts off. */
static uint64_t looks_of_one(void)
{
    int32_t part[N];

    /* the clock is read for an end so far away, but does not reach it */
    (void)solve(UINT64_MAX / 2, 1, NULL, part);
    assert_true(looks > 50);
    return looks;
}

/* Each stage has read the clock by then, and the rest of its search is left
 * out. */
static void test_any_end_leaves_an_answer(void **state)
{
    enum { AFTER = 60 };
    uint64_t all = looks_of_one();
    int32_t part[N];

    (void)state;
    for (uint64_t end = 1; end < all; end += 1 + all / 24) {
        struct nw_budget budget = solve(end, 1, scene.in_order, part);

        check_limits(part);
        assert_true(cost_of(part) <= cost_of(scene.in_order));
        assert_true(looks < end + AFTER);
        assert_int_equal(budget.steps, 1);
        budget = solve(end, 1, NULL, part);
        check_limits(part);
        assert_true(looks < end + AFTER);
    }
}

/* With more time, the first result is nearer to the one that is not cut off. */
static void test_time_is_made_use_of(void **state)
{
    uint64_t all = looks_of_one();
    int32_t part[N];
    double whole, half;

    (void)state;
    (void)solve(0, 1, NULL, part);
    whole = cost_of(part);
    (void)solve(all / 2, 1, NULL, part);
    half = cost_of(part);
    assert_true(half < cost_of(scene.in_order));
    assert_true(half - whole < (cost_of(scene.in_order) - whole) / 2);
}

/* A result whose number of steps is said to repeat it is repeated by that
 * number. */
static void test_uncut_answers_are_repeated(void **state)
{
    uint64_t all = looks_of_one();
    int32_t part[N], again[N];
    int repeated = 0;

    (void)state;
    for (uint64_t i = 1; i < 24; i += 3) {
        struct nw_budget budget =
            solve(i * all, UINT64_MAX, scene.in_order, part);

        check_limits(part);
        if (budget.hurried)
            continue;
        (void)solve(0, budget.steps, scene.in_order, again);
        assert_memory_equal(part, again, sizeof part);
        repeated += budget.steps > 1;
    }
    assert_true(repeated > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_end_leaves_an_answer),
        cmocka_unit_test(test_time_is_made_use_of),
        cmocka_unit_test(test_uncut_answers_are_repeated),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}

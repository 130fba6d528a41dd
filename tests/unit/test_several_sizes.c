/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests with several ranks on an element on large machines: millions of
 * elements, and chains in which hundreds of thousands of parts pass vertices
 * on. */
#include "map/kway/kway.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PARTS = 20000, VERTICES = 2 * PARTS, STACK = 256 << 10 };

/* A chain of vertices on a row of elements that take two each. */
static struct scene {
    struct nw_graph graph;
    struct nw_kway_machine machine;
    size_t row[VERTICES + 1];
    struct nw_graph_arc arc[2 * VERTICES];
    int32_t size[VERTICES], capacity[PARTS];
    double step[PARTS], share[PARTS];
    int64_t load[VERTICES];
    nw_graph_load limit[PARTS];
    int32_t part[VERTICES];
} scene;

static double one_apart(const struct nw_kway_machine *machine, int32_t a,
                        int32_t b)
{
    (void)machine;
    return a != b;
}

static void make_scene(struct scene *s, int32_t parts)
{
    int32_t n = 2 * parts;
    size_t arcs = 0;

    s->graph = (struct nw_graph){
        .n = n, .row = s->row, .arc = s->arc, .size = s->size, .load = s->load};
    s->machine = (struct nw_kway_machine){.k = parts,
                                          .distance = one_apart,
                                          .step = s->step,
                                          .share = s->share,
                                          .limit = s->limit,
                                          .capacity = s->capacity};
    for (int32_t v = 0; v < n; v++) {
        if (v)
            s->arc[arcs++] = (struct nw_graph_arc){v - 1, 10};
        if (v + 1 < n)
            s->arc[arcs++] = (struct nw_graph_arc){v + 1, 10};
        s->row[v + 1] = arcs;
        s->load[v] = s->size[v] = 1;
    }
    for (int32_t q = 0; q < parts; q++) {
        s->capacity[q] = 2;
        s->limit[q] = 2;
        s->share[q] = 2;
        s->step[q] = 1;
    }
}

static void *balance(void *user)
{
    struct nw_kway_state state;
    bool *balanced = user;

    if (nw_kway_state_init(&state, &scene.graph, &scene.machine, scene.part))
        return NULL;
    if (nw_kway_rebalance(&state, balanced))
        *balanced = false;
    nw_kway_state_fini(&state);
    return NULL;
}

/* The first part has one vertex too many and the last one too few: each of the
 * other parts passes one on. */
static void test_long_ways_need_no_deep_stack(void **state)
{
    pthread_attr_t small;
    pthread_t thread;
    bool balanced = false;

    (void)state;
    make_scene(&scene, PARTS);
    for (int32_t v = 0; v < VERTICES; v++)
        scene.part[v] = v ? (v - 1) / 2 : 0;
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, STACK), 0);
    assert_int_equal(pthread_create(&thread, &small, balance, &balanced), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&small);
    assert_true(balanced);
    for (int32_t v = 0; v < VERTICES; v++)
        assert_int_equal(scene.part[v], v / 2);
}

static void solve(int per_part, int wholes, int32_t *part)
{
    struct nw_budget budget = {.steps_most = UINT64_MAX, .threads = 1};
    struct nw_kway_run run = {.graph = &scene.graph,
                              .machine = &scene.machine,
                              .effort = {1, 0, 3, 4, 1, 15, 0, NULL},
                              .seed = 1,
                              .budget = &budget,
                              .per_part = per_part,
                              .wholes = wholes};

    assert_int_equal(nw_kway(&run, part), NW_OK);
}

/* If all elements together can hold more vertices than an int can count, the
 * graph is not coarsened. */
static void test_large_machines_leave_graphs_whole(void **state)
{
    enum { K = 64 };
    int32_t part[2 * K], whole[2 * K];

    (void)state;
    make_scene(&scene, K);
    solve(INT32_MAX, 0, part);
    solve(0, 1, whole);
    assert_memory_equal(part, whole, sizeof part);
}

/* Without limits of load, the first elements have all shares, and the others
 * take the ranks for which those have no place. */
static void test_parts_have_places_without_limits(void **state)
{
    enum { K = 2000 };
    struct nw_kway_run run = {.graph = &scene.graph,
                              .machine = &scene.machine,
                              .effort = {1, 0, 3, 4, 1, 15, 0, NULL},
                              .seed = 1};
    int32_t *count = calloc(K, sizeof *count);

    (void)state;
    make_scene(&scene, K);
    scene.graph.n = K;
    scene.row[K] = scene.row[K - 1] + 1;
    for (int32_t q = 0; q < K; q++) {
        scene.limit[q] = K;
        scene.share[q] = q < K / 2 ? 2 : 0;
        scene.step[q] = q % 200 ? q % 20 ? 1 : 10 : 100;
    }
    assert_int_equal(nw_kway_bisect_elements(&run, scene.part), NW_OK);
    for (int32_t v = 0; v < K; v++)
        assert_true(++count[scene.part[v]] <= 2);
    free(count);
}

static void *cut_lopsided(void *user)
{
    struct nw_kway_run run = {.graph = &scene.graph,
                              .machine = &scene.machine,
                              .effort = {1, 0, 3, 4, 1, 15, 0, NULL},
                              .seed = 1};

    *(nw_status *)user = nw_kway_bisect_elements(&run, scene.part);
    return NULL;
}

/* Each gap between elements is wider than the one before, so that each
 * bisection would separate only one element from the others. */
static void test_rising_gaps_need_no_deep_stack(void **state)
{
    enum { K = 2000, SOME = 1 << 20 };
    pthread_attr_t some;
    pthread_t thread;
    nw_status status = NW_EINVAL;

    (void)state;
    make_scene(&scene, K);
    for (int32_t q = 0; q < K; q++)
        scene.step[q] = q;
    assert_int_equal(pthread_attr_init(&some), 0);
    assert_int_equal(pthread_attr_setstacksize(&some, SOME), 0);
    assert_int_equal(pthread_create(&thread, &some, cut_lopsided, &status), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&some);
    assert_int_equal(status, NW_OK);
    for (int32_t v = 0; v < 2 * K; v++)
        assert_in_range(scene.part[v], 0, K - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_ways_need_no_deep_stack),
        cmocka_unit_test(test_large_machines_leave_graphs_whole),
        cmocka_unit_test(test_parts_have_places_without_limits),
        cmocka_unit_test(test_rising_gaps_need_no_deep_stack),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

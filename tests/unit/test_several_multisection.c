/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests with many ranks on an element that are first divided among the
 * machine's groups: the limits and ranges are the same, and fewer bytes are
 * sent between groups than by halving alone. */
#include "map/kway/kway.h"
#include "support/share.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 96, COLUMNS = 99, N = ROWS * COLUMNS, ARCS = 6 * N };
enum { CORES = 2, PACKAGES = 8, NODES = 8, K = CORES * PACKAGES * NODES };

/* A plane divided into triangles; the diagonal of each square has a random
 * direction. */
struct scene {
    struct nw_graph graph;
    struct nw_kway_machine machine;
    size_t row[N + 1];
    struct nw_graph_arc arc[ARCS];
    int32_t size[N], capacity[K];
    int64_t load[N];
    double step[K], share[K];
    nw_graph_load limit[K];
    bool falls[N];
    struct nw_graph_range range[N];
};

static struct scene scene;

/* Connects the vertex at x, y with that at x + dx, y + dy, if that is a
 * neighbour. */
static void join(struct scene *s, int x, int y, int dx, int dy, size_t *arcs)
{
    int u = x + dx, v = y + dy, corner;

    if (u < 0 || v < 0 || u >= ROWS || v >= COLUMNS)
        return;
    corner = (dx < 0 ? u : x) * COLUMNS + (dy < 0 ? v : y);
    if (dx && dy && s->falls[corner] != (dx == dy))
        return;
    s->arc[(*arcs)++] = (struct nw_graph_arc){u * COLUMNS + v, 2};
}

static void make_graph(struct scene *s)
{
    struct nw_random random;
    size_t arcs = 0;

    nw_random_init(&random, 7);
    for (int v = 0; v < N; v++)
        s->falls[v] = nw_random_below(&random, 2);
    for (int v = 0; v < N; v++) {
        for (int dx = -1; dx <= 1; dx++)
            for (int dy = -1; dy <= 1; dy++)
                if (dx || dy)
                    join(s, v / COLUMNS, v % COLUMNS, dx, dy, &arcs);
        s->row[v + 1] = arcs;
        s->load[v] = s->size[v] = 1;
    }
    s->graph = (struct nw_graph){
        .n = N, .row = s->row, .arc = s->arc, .size = s->size, .load = s->load};
}

static double far_apart(const struct nw_kway_machine *machine, int32_t a,
                        int32_t b)
{
    (void)machine;
    return a == b                                             ? 0
           : a / CORES == b / CORES                           ? 1
           : a / (CORES * PACKAGES) == b / (CORES * PACKAGES) ? 10
                                                              : 100;
}

static void make_machine(struct scene *s)
{
    s->machine = (struct nw_kway_machine){.k = K,
                                          .distance = far_apart,
                                          .step = s->step,
                                          .share = s->share,
                                          .limit = s->limit,
                                          .capacity = s->capacity};
    for (int q = 0; q < K; q++) {
        s->capacity[q] = N;
        s->share[q] = 1;
        s->limit[q] = (N + K - 1) / K * 103 / 100;
        s->step[q] = q ? far_apart(&s->machine, q - 1, q) : 0;
    }
}

static int set_up(void **state)
{
    (void)state;
    make_graph(&scene);
    make_machine(&scene);
    return 0;
}

static double solve_on(int threads, int starts, int group_starts, int32_t *part)
{
    struct nw_budget budget = {.steps_most = UINT64_MAX, .threads = threads};
    struct nw_kway_run run = {
        .graph = &scene.graph,
        .machine = &scene.machine,
        .effort = {starts, 2, 3, 4, 2, 30, group_starts, NULL},
        .seed = 1,
        .budget = &budget};
    nw_graph_load load[K] = {0};

    assert_int_equal(nw_kway(&run, part), NW_OK);
    for (int v = 0; v < N; v++)
        load[part[v]]++;
    for (int q = 0; q < K; q++)
        assert_true(load[q] <= scene.limit[q]);
    return nw_kway_cost(&scene.graph, &scene.machine, part);
}

static double solve(int starts, int group_starts, int32_t *part)
{
    return solve_on(1, starts, group_starts, part);
}

/* Starts, their groups and halves run concurrently if there are threads. */
static void test_threads_do_not_matter(void **state)
{
    static int32_t part[N], other[N];
    int step = share_step(3, "numbers of threads");

    (void)state;
    (void)solve(3, 2, part);
    for (int threads = 4; threads >= 2; threads -= step) {
        (void)solve_on(threads, 3, 2, other);
        assert_memory_equal(part, other, sizeof part);
    }
}

static void test_borders_of_groups_are_shorter(void **state)
{
    static int32_t part[N];
    double halved = solve(4, 0, part), shared = solve(3, 6, part);

    (void)state;
    print_message("%.0f hop-bytes, %.0f by groups\n", halved, shared);
    assert_true(shared < 0.99 * halved);
}

/* Every third vertex of the first node's share must stay there, and one of them
 * must be on a core of the second node. */
static void test_ranges_are_kept(void **state)
{
    static int32_t part[N];
    const int32_t node = CORES * PACKAGES;

    (void)state;
    for (int v = 0; v < N; v++)
        scene.range[v] = v % 24 ? (struct nw_graph_range){0, K}
                                : (struct nw_graph_range){0, node};
    scene.range[1] = (struct nw_graph_range){node + 1, node + 2};
    scene.range[2] = (struct nw_graph_range){node - 1, node + 1};
    scene.graph.range = scene.range;
    (void)solve(2, 2, part);
    scene.graph.range = NULL;
    for (int v = 0; v < N; v++) {
        assert_true(part[v] >= scene.range[v].low);
        assert_true(part[v] < scene.range[v].high);
    }
}

/* The groups of the whole machine are its nodes, those of a node its packages;
 * a package has no groups. */
static void test_groups_have_what_is_in_them(void **state)
{
    const int32_t ends[3] = {K, CORES * PACKAGES, CORES};
    const int32_t counts[2] = {NODES, PACKAGES};
    struct nw_kway_multisection groups;

    (void)state;
    assert_false(nw_kway_multisection_apply(&scene.machine, 0, ends[2]));
    for (int i = 0; i < 2; i++) {
        int32_t width = ends[i] / counts[i];

        assert_true(nw_kway_multisection_apply(&scene.machine, 0, ends[i]));
        assert_int_equal(nw_kway_multisection_init(&groups, &scene.machine, 0,
                                                   ends[i],
                                                   (double)ends[i] * N / K),
                         NW_OK);
        assert_int_equal(groups.machine.k, counts[i]);
        for (int g = 0; g < counts[i]; g++) {
            double most = (double)(width * scene.limit[0]);

            assert_int_equal(groups.first[g], g * width);
            assert_true(groups.machine.share[g] == width);
            assert_true((double)groups.machine.limit[g] <= most);
            assert_true((double)groups.machine.limit[g] * K >= width * N);
            assert_true(nw_kway_distance(&groups.machine, g, 0) ==
                        far_apart(NULL, g * width, 0));
        }
        nw_kway_multisection_fini(&groups);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_borders_of_groups_are_shorter),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_ranges_are_kept),
        cmocka_unit_test(test_groups_have_what_is_in_them),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}

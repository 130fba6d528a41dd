/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the annealing of k-way partitions. Some graphs have known best
 * parts. Every result must have these properties: the sizes of the parts stay,
 * the cut never rises, and the same seed gives the same result. */
#include "base/random.h"
#include "map/graph/anneal_kway.h"
#include "map/graph/anneal_gain_table.h"
#include "support/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PARTS 4
#define EACH 24
#define N (PARTS * EACH)

/* Makes a complete graph: `inside` bytes between vertices of one group of EACH
 * vertices, one byte between others. Vertex v is in group group[v]. */
static void make_groups(const int32_t *group, float inside,
                        struct nw_graph *graph)
{
    int32_t at = 0;

    MUST(nw_graph_init(graph, N, N * (N - 1)));
    for (int32_t v = 0; v < N; v++) {
        graph->size[v] = 1;
        for (int32_t u = 0; u < N; u++)
            if (u != v)
                graph->arc[at++] =
                    (struct nw_graph_arc){u, group[u] == group[v] ? inside : 1};
        graph->row[v + 1] = at;
    }
}

static double cut_of(const struct nw_graph *graph, const int32_t *part)
{
    double sum = 0;

    for (int32_t v = 0; v < graph->n; v++)
        for (size_t a = graph->row[v]; a < graph->row[v + 1]; a++)
            if (part[graph->arc[a].to] != part[v])
                sum += (double)graph->arc[a].weight;
    return sum / 2;
}

static void deal(uint64_t seed, int32_t *group)
{
    struct nw_random random;

    nw_random_init(&random, seed);
    for (int32_t v = 0; v < N; v++)
        group[v] = v % PARTS;
    nw_random_shuffle(&random, group, N);
}

static void anneal(const struct nw_graph *graph, bool only_expander_like,
                   int32_t *part)
{
    struct nw_anneal_kway anneal = {.graph = graph,
                                    .parts = PARTS,
                                    .part = part,
                                    .tries = 4000,
                                    .seed = 7,
                                    .only_expander_like = only_expander_like};

    MUST(nw_anneal_kway(&anneal));
}

static void test_groups_are_found(void **state)
{
    struct nw_graph graph;
    int32_t group[N], part[N];

    (void)state;
    deal(1, group);
    make_groups(group, 10, &graph);
    for (int32_t v = 0; v < N; v++)
        part[v] = v / EACH;
    anneal(&graph, true, part);
    /* one byte between each pair of different groups, and nothing else */
    assert_true(cut_of(&graph, part) ==
                PARTS * (PARTS - 1) / 2.0 * EACH * EACH);
    nw_graph_fini(&graph);
}

static void test_sizes_stay_and_cuts_do_not_rise(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 20; seed++) {
        struct nw_graph graph;
        int32_t group[N], part[N], again[N], size[PARTS] = {0};
        double before;

        deal(seed, group);
        make_groups(group, (float)seed, &graph);
        deal(seed + 100, part);
        memcpy(again, part, sizeof part);
        before = cut_of(&graph, part);
        anneal(&graph, false, part);
        anneal(&graph, false, again);
        assert_true(cut_of(&graph, part) <= before);
        assert_memory_equal(part, again, sizeof part);
        for (int32_t v = 0; v < N; v++)
            size[part[v]]++;
        for (int32_t p = 0; p < PARTS; p++)
            assert_int_equal(size[p], EACH);
        nw_graph_fini(&graph);
    }
}

/* Partitions with a small cut come from graphs with a geometric structure, and
 * stay unchanged. */
static void test_shapes_are_left_alone(void **state)
{
    struct nw_graph graph;
    int32_t group[N], part[N];

    (void)state;
    deal(3, group);
    make_groups(group, 1000, &graph);
    memcpy(part, group, sizeof part);
    anneal(&graph, true, part);
    assert_memory_equal(part, group, sizeof part);
    nw_graph_fini(&graph);
}

/* The first ANCHORED vertices have a few edges that are much heavier than all
 * others and are already inside parts. They must not determine the temperature
 * at which the others are annealed. */
#define ANCHORED (4 * PARTS)

static void test_heavy_edges_do_not_hide_others(void **state)
{
    struct nw_graph graph;
    struct nw_random random;
    int32_t group[N], part[N];

    (void)state;
    for (int32_t v = 0; v < N; v++)
        group[v] = v % PARTS;
    make_groups(group, 10, &graph);
    for (int32_t v = 0; v < ANCHORED; v++)
        for (size_t a = graph.row[v]; a < graph.row[v + 1]; a++)
            if (graph.arc[a].to < ANCHORED && graph.arc[a].weight > 1)
                graph.arc[a].weight = 100000;
    memcpy(part, group, sizeof part);
    nw_random_init(&random, 5);
    nw_random_shuffle(&random, part + ANCHORED, N - ANCHORED);
    anneal(&graph, false, part);
    assert_true(cut_of(&graph, part) ==
                PARTS * (PARTS - 1) / 2.0 * EACH * EACH);
    nw_graph_fini(&graph);
}

/* A graph that is large enough for two teams of threads, with blocks and parts
 * of uneven sizes and one vertex of high degree. Vertex v is connected to the
 * vertices at the distances 7, 49 and 343, so that the remainders of division
 * by seven are good parts, and vertex 0 to every ninth vertex. */
#define MANY 9001
#define MANY_PARTS 7

static void add_arc(struct nw_graph *graph, int32_t v, int32_t to)
{
    graph->arc[graph->row[v + 1]++] = (struct nw_graph_arc){to, 1};
}

static bool is_spoke(int32_t v)
{
    return v && v % 9 == 0;
}

static void make_many(struct nw_graph *graph)
{
    MUST(nw_graph_init(graph, MANY, MANY * 8));
    for (int32_t v = 0; v < MANY; v++) {
        graph->size[v] = 1;
        graph->row[v + 1] = graph->row[v];
        for (int32_t step = 7; step < 344; step *= 7) {
            add_arc(graph, v, (v + step) % MANY);
            add_arc(graph, v, (v + MANY - step) % MANY);
        }
        for (int32_t u = 0; !v && u < MANY; u++)
            if (is_spoke(u))
                add_arc(graph, v, u);
        if (is_spoke(v))
            add_arc(graph, v, 0);
    }
}

static void test_two_teams_keep_sizes_on_any_threads(void **state)
{
    static int32_t part[2][MANY];
    int32_t more[MANY_PARTS] = {0};
    struct nw_graph graph;
    struct nw_random random;
    double before;

    (void)state;
    make_many(&graph);
    for (int32_t v = 0; v < MANY; v++)
        part[0][v] = v * MANY_PARTS / MANY;
    nw_random_init(&random, 5);
    nw_random_shuffle(&random, part[0], MANY);
    memcpy(part[1], part[0], sizeof part[1]);
    before = cut_of(&graph, part[0]);
    for (int i = 0; i < 2; i++) {
        struct nw_anneal_kway anneal = {.graph = &graph,
                                        .parts = MANY_PARTS,
                                        .part = part[i],
                                        .tries = 500,
                                        .seed = 7,
                                        .threads = i + 1};

        MUST(nw_anneal_kway(&anneal));
    }
    assert_memory_equal(part[0], part[1], sizeof part[0]);
    assert_true(cut_of(&graph, part[0]) < 0.8 * before);
    for (int32_t v = 0; v < MANY; v++) {
        more[part[0][v]]++;
        more[v * MANY_PARTS / MANY]--;
    }
    for (int32_t p = 0; p < MANY_PARTS; p++)
        assert_int_equal(more[p], 0);
    nw_graph_fini(&graph);
}

/* Three rings through all vertices, each in another order: every vertex has six
 * arcs, and the graph has no structure. Swaps alone reduce the cut to 0.564 of
 * that of a random partition. */
#define RINGS 3
#define RING_PARTS 20
#define LEFT_MAX 0.55

static void make_rings(struct nw_graph *graph)
{
    static int32_t order[RINGS][MANY], at[RINGS][MANY];
    struct nw_random random;

    nw_random_init(&random, 11);
    MUST(nw_graph_init(graph, MANY, MANY * 2 * RINGS));
    for (int i = 0; i < RINGS; i++) {
        for (int32_t v = 0; v < MANY; v++)
            order[i][v] = v;
        nw_random_shuffle(&random, order[i], MANY);
        for (int32_t k = 0; k < MANY; k++)
            at[i][order[i][k]] = k;
    }
    for (int32_t v = 0; v < MANY; v++) {
        graph->size[v] = 1;
        graph->row[v + 1] = graph->row[v];
        for (int i = 0; i < RINGS; i++) {
            add_arc(graph, v, order[i][(at[i][v] + 1) % MANY]);
            add_arc(graph, v, order[i][(at[i][v] + MANY - 1) % MANY]);
        }
    }
}

static void test_moves_cut_less_where_there_is_no_shape(void **state)
{
    static int32_t part[MANY];
    int32_t more[RING_PARTS] = {0};
    struct nw_graph graph;
    struct nw_anneal_kway anneal = {.graph = &graph,
                                    .parts = RING_PARTS,
                                    .part = part,
                                    .tries = 400,
                                    .seed = 7,
                                    .threads = 2};
    double before;

    (void)state;
    make_rings(&graph);
    for (int32_t v = 0; v < MANY; v++)
        more[part[v] = v % RING_PARTS]++;
    before = cut_of(&graph, part);
    MUST(nw_anneal_kway(&anneal));
    assert_true(cut_of(&graph, part) < LEFT_MAX * before);
    for (int32_t v = 0; v < MANY; v++)
        more[part[v]]--;
    for (int32_t p = 0; p < RING_PARTS; p++)
        assert_int_equal(more[p], 0);
    nw_graph_fini(&graph);
}

/* Parts of 1 vertex, of 7, and of more than are considered together: the
 * reported change is exactly that of the cut, since bytes are whole numbers. */
static void test_changes_add_up_for_uneven_parts(void **state)
{
    static int32_t part[MANY];
    int32_t size[3] = {0};
    struct nw_graph graph;
    struct nw_gain_table near;
    struct nw_random random;
    double temperature = 4;

    (void)state;
    make_many(&graph);
    for (int32_t v = 0; v < MANY; v++)
        part[v] = v ? v > 7 ? 2 : 1 : 0;
    nw_random_init(&random, 9);
    MUST(nw_gain_table_init(&near, &graph, part, 3));
    for (int round = 0; round < 40; round++, temperature *= 0.8) {
        double before = cut_of(&graph, part);
        double change = nw_gain_table_run(&near, 500, temperature, &random);

        assert_true(cut_of(&graph, part) - before == change);
    }
    for (int32_t v = 0; v < MANY; v++)
        size[part[v]]++;
    assert_int_equal(size[0], 1);
    assert_int_equal(size[1], 7);
    nw_gain_table_fini(&near);
    nw_graph_fini(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_are_found),
        cmocka_unit_test(test_sizes_stay_and_cuts_do_not_rise),
        cmocka_unit_test(test_shapes_are_left_alone),
        cmocka_unit_test(test_heavy_edges_do_not_hide_others),
        cmocka_unit_test(test_changes_add_up_for_uneven_parts),
        cmocka_unit_test(test_two_teams_keep_sizes_on_any_threads),
        cmocka_unit_test(test_moves_cut_less_where_there_is_no_shape),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

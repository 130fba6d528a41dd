/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the refinement that divides pairs of parts again. Some graphs have
 * known best parts. Every result must have these properties: the sizes of the
 * parts stay, the cut never rises, and the same seed gives the same result. */
#include "base/random.h"
#include "map/graph/pairwise_refine.h"
#include "map/graph/anneal_kway.h"
#include "support/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PARTS 6
#define EACH 8
#define N (PARTS * EACH)

/* Makes a graph with bytes(u, v) between each two vertices, and no edge where
 * that is 0. */
static void make_graph(float (*bytes)(int32_t u, int32_t v, const void *user),
                       const void *user, struct nw_graph *graph)
{
    int32_t at = 0;

    MUST(nw_graph_init(graph, N, N * (N - 1)));
    for (int32_t v = 0; v < N; v++) {
        graph->size[v] = 1;
        graph->load[v] = 1;
        for (int32_t u = 0; u < N; u++)
            if (u != v && bytes(u, v, user) > 0)
                graph->arc[at++] = (struct nw_graph_arc){u, bytes(u, v, user)};
        graph->row[v + 1] = at;
    }
}

static void pairwise(const struct nw_graph *graph, int32_t parts, int32_t *part)
{
    MUST(nw_pairwise_refine(graph, parts, part, 3));
}

/* The edge between vertices 2i and 2i + 1 is heavier than all others together;
 * group[i] says which pairs belong together. */
static float of_bound_pairs(int32_t u, int32_t v, const void *user)
{
    const int32_t *group = user;

    if (u / 2 == v / 2)
        return 100000;
    return group[u / 2] == group[v / 2] ? 10 : 1;
}

static void deal_pairs(uint64_t seed, int32_t *group)
{
    struct nw_random random;

    nw_random_init(&random, seed);
    for (int32_t i = 0; i < N / 2; i++)
        group[i] = i % PARTS;
    nw_random_shuffle(&random, group, N / 2);
}

/* A swap of two vertices cannot lower the cut, since it separates a pair. */
static void test_bound_pairs_find_their_group(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct nw_graph graph;
        int32_t group[N / 2], part[N];

        deal_pairs(seed, group);
        make_graph(of_bound_pairs, group, &graph);
        for (int32_t v = 0; v < N; v++)
            part[v] = v / EACH;
        pairwise(&graph, PARTS, part);
        /* one byte between vertices of different groups, and nothing else */
        assert_true(nw_anneal_kway_cut(&graph, part) ==
                    PARTS * (PARTS - 1) / 2.0 * EACH * EACH);
        nw_graph_fini(&graph);
    }
}

/* Random edges between a few of many vertices; some are much heavier than all
 * others. */
static float at_random(int32_t u, int32_t v, const void *user)
{
    uint64_t low = (uint64_t)(u < v ? u : v), high = (uint64_t)(u < v ? v : u);
    struct nw_random random;
    uint64_t bits;

    nw_random_init(&random, *(const uint64_t *)user * N * N + low * N + high);
    bits = nw_random_next(&random);
    return bits % 5 ? 0 : (float)((uint64_t)1 << (bits >> 32) % 20);
}

/* Deals parts of uneven sizes, down to a single vertex; returns their
 * number. */
static int32_t deal_parts(uint64_t seed, int32_t *part)
{
    int32_t parts = 2 + (int32_t)(seed % 9);
    struct nw_random random;

    nw_random_init(&random, seed);
    for (int32_t v = 0; v < N; v++)
        part[v] = v < parts ? v : (v * v / 7) % (parts - 1);
    nw_random_shuffle(&random, part, N);
    return parts;
}

static void count_parts(const int32_t *part, int32_t size[N])
{
    memset(size, 0, N * sizeof *size);
    for (int32_t v = 0; v < N; v++)
        size[part[v]]++;
}

static void test_sizes_stay_and_cuts_do_not_rise(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        int32_t part[N], again[N], size[N], after[N];
        int32_t parts = deal_parts(seed, part);
        struct nw_graph graph;
        double begun;

        make_graph(at_random, &seed, &graph);
        memcpy(again, part, sizeof part);
        count_parts(part, size);
        begun = nw_anneal_kway_cut(&graph, part);
        pairwise(&graph, parts, part);
        pairwise(&graph, parts, again);
        count_parts(part, after);
        assert_true(nw_anneal_kway_cut(&graph, part) <= begun);
        assert_memory_equal(part, again, sizeof part);
        assert_memory_equal(size, after, sizeof size);
        nw_graph_fini(&graph);
    }
}

static float of_nobody(int32_t u, int32_t v, const void *user)
{
    (void)u;
    (void)v;
    (void)user;
    return 0;
}

static void test_nothing_between_parts_changes_nothing(void **state)
{
    struct nw_graph graph;
    int32_t part[N], begun[N];

    (void)state;
    make_graph(of_nobody, NULL, &graph);
    deal_parts(1, part);
    memcpy(begun, part, sizeof part);
    pairwise(&graph, PARTS, part);
    assert_memory_equal(part, begun, sizeof part);
    nw_graph_fini(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound_pairs_find_their_group),
        cmocka_unit_test(test_sizes_stay_and_cuts_do_not_rise),
        cmocka_unit_test(test_nothing_between_parts_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

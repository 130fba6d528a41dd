/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of bisections of graphs whose bytes are whole numbers. The sizes are
 * exact. The reported cut equals that of a recount and is never larger than
 * before. If all bisections can be tried, the cut is the minimum. */
#include "base/array.h"
#include "base/random.h"
#include "map/graph/bisect_multilevel.h"
#include "map/multilevel/recursive_bisection.h"
#include "support/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX 60 /* vertices */

static int32_t bytes_at(struct nw_random *random)
{
    return nw_random_below(random, 4) ? 0
                                      : 1 + (int32_t)nw_random_below(random, 9);
}

/* Makes a random graph; returns the largest sum of bytes of a vertex. */
static int32_t make_random(struct nw_random *random, int32_t n,
                           struct nw_graph *graph)
{
    static int32_t bytes[MAX][MAX];
    int32_t at = 0, most = 0;

    for (int32_t v = 0; v < n; v++)
        for (int32_t u = 0; u <= v; u++)
            bytes[v][u] = bytes[u][v] = u == v ? 0 : bytes_at(random);
    MUST(nw_graph_init(graph, n, (size_t)(n * n)));
    for (int32_t v = 0; v < n; v++) {
        int32_t sum = 0;

        graph->size[v] = 1;
        graph->load[v] = 1;
        for (int32_t u = 0; u < n; u++) {
            sum += bytes[v][u];
            if (bytes[v][u])
                graph->arc[at++] = (struct nw_graph_arc){u, (float)bytes[v][u]};
        }
        graph->row[v + 1] = at;
        most = sum > most ? sum : most;
    }
    return most;
}

static nw_status fm(const struct nw_graph *graph, int32_t target, int32_t most,
                    bool reduced_effort, int8_t *side, double *cut)
{
    struct nw_bisection to = nw_bisection_exact(graph, target);
    struct nw_fm fm = {graph, &to, side, .most = most};
    nw_status status;

    to.reduced_effort = reduced_effort;
    status = nw_fm(&fm);
    *cut = fm.cut;
    assert_true(fm.excess == 0);
    return status;
}

static int32_t lefts(const int8_t *side, int32_t n)
{
    int32_t count = 0;

    for (int32_t v = 0; v < n; v++)
        count += !side[v];
    return count;
}

static void test_sizes_are_exact_and_cuts_do_not_rise(void **state)
{
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 1);
    for (int i = 0; i < 2000; i++) {
        int32_t n = 2 + (int32_t)nw_random_below(&random, MAX - 1);
        int32_t target = 1 + (int32_t)nw_random_below(&random, (uint64_t)n - 1);
        bool grown = i % 3 == 0;
        struct nw_graph graph;
        int32_t most = make_random(&random, n, &graph);
        int8_t side[MAX];
        double before, cut;

        for (int32_t v = 0; v < n; v++)
            side[v] = v >= (grown ? 1 : target);
        before = nw_bisect_cut(&graph, side);
        MUST(fm(&graph, target, most, i % 2, side, &cut));
        assert_int_equal(lefts(side, n), target);
        assert_true(cut == nw_bisect_cut(&graph, side));
        assert_true(grown || cut <= before);
        nw_graph_fini(&graph);
    }
}

static double least_of_all(const struct nw_graph *graph, int32_t target)
{
    double least = -1;

    for (int32_t set = 0; set < 1 << graph->n; set++) {
        int8_t side[MAX];
        double cut;

        for (int32_t v = 0; v < graph->n; v++)
            side[v] = !(set >> v & 1);
        if (lefts(side, graph->n) != target)
            continue;
        cut = nw_bisect_cut(graph, side);
        least = least < 0 || cut < least ? cut : least;
    }
    return least;
}

/* If a part is grown from each vertex in turn, at least one of the results has
 * the least cut, and none has less. */
static void test_few_vertices_come_to_the_least(void **state)
{
    struct nw_random random;
    int reached = 0;

    (void)state;
    nw_random_init(&random, 2);
    for (int i = 0; i < 60; i++) {
        struct nw_graph graph;
        int32_t most = make_random(&random, 10, &graph);
        double least = least_of_all(&graph, 5), best = -1;

        for (int32_t from = 0; from < 10; from++) {
            int8_t side[MAX];
            double cut;

            memset(side, 1, sizeof side);
            side[from] = 0;
            MUST(fm(&graph, 5, most, false, side, &cut));
            assert_true(cut >= least);
            best = best < 0 || cut < best ? cut : best;
        }
        reached += best == least;
        nw_graph_fini(&graph);
    }
    assert_true(reached >= 57);
}

/* A part that is grown from the end of a chain cuts it once, whatever its
 * length is. */
static void test_chains_are_cut_once(void **state)
{
    (void)state;
    for (int32_t n = 3; n < 700; n += 31) {
        struct nw_graph graph;
        int8_t *side;
        double cut;
        int32_t at = 0;

        MUST(nw_graph_init(&graph, n, 2 * (size_t)n));
        MUST(nw_alloc((size_t)n, 1, &side));
        for (int32_t v = 0; v < n; v++) {
            graph.size[v] = 1;
            graph.load[v] = 1;
            if (v)
                graph.arc[at++] = (struct nw_graph_arc){v - 1, 1008};
            if (v + 1 < n)
                graph.arc[at++] = (struct nw_graph_arc){v + 1, 1008};
            graph.row[v + 1] = at;
        }
        memset(side, 1, (size_t)n);
        side[0] = 0;
        MUST(fm(&graph, n / 3 + 1, NW_FM_BUCKETS_MAX, n % 2, side, &cut));
        assert_true(cut == 2 * 1008);
        assert_int_equal(lefts(side, n), n / 3 + 1);
        free(side);
        nw_graph_fini(&graph);
    }
}

/* --- sections of a grid --- */

#define X 9
#define Y 7
#define Z 5
#define CELLS (X * Y * Z)
#define SLOTS 384 /* eight groups of six groups of eight */

static void edge(struct nw_assignment *assignment)
{
    static const int32_t stride[] = {Y * Z, Z, 1}, size[] = {X, Y, Z};
    size_t at = 0;

    for (int32_t p = 0; p < CELLS; p++) {
        for (int d = 0; d < 3; d++)
            for (int32_t by = -1; by <= 1; by += 2) {
                int32_t x = p / stride[d] % size[d] + by;

                if (x >= 0 && x < size[d])
                    assignment->edge[at++] =
                        (struct nw_undirected_edge){p + by * stride[d], 2};
            }
        assignment->row[p + 1] = at;
    }
}

static void open_assignment(struct nw_hierarchy *hierarchy,
                            struct nw_assignment *assignment)
{
    double gap[SLOTS];
    int32_t place[SLOTS];
    bool is_hierarchy;

    for (int32_t s = 0; s < SLOTS; s++) {
        place[s] = s;
        gap[s] = (s + 1) % 8 ? 1 : (s + 1) % 48 ? 10 : 100;
    }
    MUST(nw_hierarchy_from_gaps(hierarchy, gap, place, SLOTS, &is_hierarchy));
    assert_true(is_hierarchy);
    *assignment =
        (struct nw_assignment){.hierarchy = hierarchy, .count = CELLS};
    MUST(nw_alloc(CELLS + 1, sizeof *assignment->row, &assignment->row));
    MUST(nw_alloc((size_t)CELLS * 6, sizeof *assignment->edge,
                  &assignment->edge));
    MUST(nw_alloc(CELLS, sizeof *assignment->slot, &assignment->slot));
    MUST(nw_alloc(CELLS, sizeof *assignment->at, &assignment->at));
    MUST(nw_alloc(SLOTS, sizeof *assignment->process, &assignment->process));
    MUST(nw_alloc(SLOTS, sizeof *assignment->fixed, &assignment->fixed));
    for (int32_t p = 0; p < CELLS; p++)
        assignment->slot[p] = p;
    nw_assignment_set(assignment, assignment->slot);
    edge(assignment);
}

/* Every rank has a slot of its own. Bisections of cells in their order, which
 * cut only the first dimension, are worse than those that choose among all
 * dimensions. */
static void test_all_ways_slot_all_cells(void **state)
{
    const int across = NW_RB_START_STRIPES | NW_RB_START_STRAIGHT;
    struct nw_budget budget = {.steps_most = UINT64_MAX, .threads = 2};
    struct nw_assignment assignment;
    struct nw_stencil stencil;
    struct nw_hierarchy hierarchy;
    double in_order;
    bool found;

    (void)state;
    open_assignment(&hierarchy, &assignment);
    in_order = nw_assignment_cost(&assignment);
    MUST(nw_stencil_find(&assignment, &stencil, &found));
    assert_true(found);
    for (int ways = 1; ways < 2 * NW_RB_START_LAYERS; ways++) {
        struct nw_recursive_bisection bisection = {.assignment = &assignment,
                                                   .seed = 1,
                                                   .stencil = &stencil,
                                                   .kinds = ways,
                                                   .threads = 2,
                                                   .budget = &budget};
        bool taken[SLOTS] = {false};
        const int32_t *slot;
        double cost = 1e300;

        if (!(ways &
              (NW_RB_START_STRIPES | NW_RB_START_GROWN | NW_RB_START_STRAIGHT)))
            continue;
        MUST(nw_recursive_bisection(&bisection));
        slot = bisection.slot;
        for (int32_t p = 0; p < CELLS; p++) {
            assert_true(slot[p] >= 0 && slot[p] < SLOTS && !taken[slot[p]]);
            taken[slot[p]] = true;
        }
        MUST(nw_assignment_take_if_better(&assignment, slot, &cost));
        if (ways & across)
            assert_true(cost < in_order);
        free(bisection.slot);
    }
    nw_assignment_fini(&assignment);
    nw_hierarchy_fini(&hierarchy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_are_exact_and_cuts_do_not_rise),
        cmocka_unit_test(test_few_vertices_come_to_the_least),
        cmocka_unit_test(test_chains_are_cut_once),
        cmocka_unit_test(test_all_ways_slot_all_cells),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

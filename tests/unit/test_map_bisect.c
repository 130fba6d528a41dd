/* SPDX-License-Identifier: BSD-3-Clause */
/* Halves of graphs whose bytes are whole numbers: sizes exact, cuts as counted
 * anew, never larger than before, and the least where all can be tried. */
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

#define MOST 60 /* vertices */

static int32_t bytes_at(struct nw_random *random)
{
    return nw_random_below(random, 4) ? 0
                                      : 1 + (int32_t)nw_random_below(random, 9);
}

/* Returns the most bytes of a vertex together. */
static int32_t make_random(struct nw_random *random, int32_t n,
                           struct nw_halve_graph *graph)
{
    static int32_t bytes[MOST][MOST];
    int32_t at = 0, most = 0;

    for (int32_t v = 0; v < n; v++)
        for (int32_t u = 0; u <= v; u++)
            bytes[v][u] = bytes[u][v] = u == v ? 0 : bytes_at(random);
    MUST(nw_halve_graph_init(graph, n, (size_t)(n * n)));
    for (int32_t v = 0; v < n; v++) {
        int32_t sum = 0;

        graph->size[v] = 1;
        for (int32_t u = 0; u < n; u++) {
            sum += bytes[v][u];
            if (bytes[v][u])
                graph->arc[at++] = (struct nw_halve_arc){u, (float)bytes[v][u]};
        }
        graph->row[v + 1] = at;
        most = sum > most ? sum : most;
    }
    return most;
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
        int32_t n = 2 + (int32_t)nw_random_below(&random, MOST - 1);
        int32_t target = 1 + (int32_t)nw_random_below(&random, (uint64_t)n - 1);
        bool grown = i % 3 == 0;
        struct nw_halve_graph graph;
        int32_t most = make_random(&random, n, &graph);
        int8_t side[MOST];
        double before, cut;

        graph.hasty = i % 2;
        for (int32_t v = 0; v < n; v++)
            side[v] = v >= (grown ? 1 : target);
        before = nw_halve_cut(&graph, side);
        MUST(nw_halve_refine_whole(&graph, target, most, side, &cut));
        assert_int_equal(lefts(side, n), target);
        assert_true(cut == nw_halve_cut(&graph, side));
        assert_true(grown || cut <= before);
        nw_halve_graph_fini(&graph);
    }
}

static double least_of_all(const struct nw_halve_graph *graph, int32_t target)
{
    double least = -1;

    for (int32_t set = 0; set < 1 << graph->n; set++) {
        int8_t side[MOST];
        double cut;

        for (int32_t v = 0; v < graph->n; v++)
            side[v] = !(set >> v & 1);
        if (lefts(side, graph->n) != target)
            continue;
        cut = nw_halve_cut(graph, side);
        least = least < 0 || cut < least ? cut : least;
    }
    return least;
}

/* From each vertex grown, one at least comes to the least cut; none below. */
static void test_few_vertices_come_to_the_least(void **state)
{
    struct nw_random random;
    int reached = 0;

    (void)state;
    nw_random_init(&random, 2);
    for (int i = 0; i < 60; i++) {
        struct nw_halve_graph graph;
        int32_t most = make_random(&random, 10, &graph);
        double least = least_of_all(&graph, 5), best = -1;

        for (int32_t from = 0; from < 10; from++) {
            int8_t side[MOST];
            double cut;

            memset(side, 1, sizeof side);
            side[from] = 0;
            MUST(nw_halve_refine_whole(&graph, 5, most, side, &cut));
            assert_true(cut >= least);
            best = best < 0 || cut < best ? cut : best;
        }
        reached += best == least;
        nw_halve_graph_fini(&graph);
    }
    assert_true(reached >= 57);
}

/* From its end a chain is cut once, whatever its length. */
static void test_chains_are_cut_once(void **state)
{
    (void)state;
    for (int32_t n = 3; n < 700; n += 31) {
        struct nw_halve_graph graph;
        int8_t *side;
        double cut;
        int32_t at = 0;

        MUST(nw_halve_graph_init(&graph, n, 2 * (size_t)n));
        MUST(nw_alloc((size_t)n, 1, &side));
        for (int32_t v = 0; v < n; v++) {
            graph.size[v] = 1;
            if (v)
                graph.arc[at++] = (struct nw_halve_arc){v - 1, 1008};
            if (v + 1 < n)
                graph.arc[at++] = (struct nw_halve_arc){v + 1, 1008};
            graph.row[v + 1] = at;
        }
        graph.hasty = n % 2;
        memset(side, 1, (size_t)n);
        side[0] = 0;
        MUST(nw_halve_refine_whole(&graph, n / 3 + 1, NW_HALVE_WHOLE_MOST, side,
                                   &cut));
        assert_true(cut == 2 * 1008);
        assert_int_equal(lefts(side, n), n / 3 + 1);
        free(side);
        nw_halve_graph_fini(&graph);
    }
}

/* --- sections of a grid --- */

#define X 9
#define Y 7
#define Z 5
#define CELLS (X * Y * Z)
#define SEATS 384 /* eight of six of eight */

static void bond(struct nw_layout *layout)
{
    static const int32_t stride[] = {Y * Z, Z, 1}, size[] = {X, Y, Z};
    size_t at = 0;

    for (int32_t p = 0; p < CELLS; p++) {
        for (int d = 0; d < 3; d++)
            for (int32_t by = -1; by <= 1; by += 2) {
                int32_t x = p / stride[d] % size[d] + by;

                if (x >= 0 && x < size[d])
                    layout->bond[at++] =
                        (struct nw_bond){p + by * stride[d], 2};
            }
        layout->row[p + 1] = at;
    }
}

static void open_layout(struct nw_tree *tree, struct nw_layout *layout)
{
    double gap[SEATS];
    int32_t place[SEATS];
    bool is_tree;

    for (int32_t s = 0; s < SEATS; s++) {
        place[s] = s;
        gap[s] = (s + 1) % 8 ? 1 : (s + 1) % 48 ? 10 : 100;
    }
    MUST(nw_tree_from_gaps(tree, gap, place, SEATS, &is_tree));
    assert_true(is_tree);
    *layout = (struct nw_layout){.tree = tree, .count = CELLS};
    MUST(nw_alloc(CELLS + 1, sizeof *layout->row, &layout->row));
    MUST(nw_alloc((size_t)CELLS * 6, sizeof *layout->bond, &layout->bond));
    MUST(nw_alloc(CELLS, sizeof *layout->seat, &layout->seat));
    MUST(nw_alloc(CELLS, sizeof *layout->at, &layout->at));
    MUST(nw_alloc(SEATS, sizeof *layout->process, &layout->process));
    MUST(nw_alloc(SEATS, sizeof *layout->fixed, &layout->fixed));
    for (int32_t p = 0; p < CELLS; p++)
        layout->seat[p] = p;
    nw_layout_seat(layout, layout->seat);
    bond(layout);
}

/* Everyone has a seat of their own. Cells in order, which cut the first
 * dimension alone, are worse than what begins with all dimensions. */
static void test_all_ways_seat_all_cells(void **state)
{
    const int across = NW_SECTION_STRIPES | NW_SECTION_STRAIGHT;
    struct nw_budget budget = {.steps_most = UINT64_MAX, .threads = 2};
    struct nw_layout layout;
    struct nw_tiling tiling;
    struct nw_tree tree;
    double in_order;
    bool found;

    (void)state;
    open_layout(&tree, &layout);
    in_order = nw_layout_cost(&layout);
    MUST(nw_tiling_find(&layout, &tiling, &found));
    assert_true(found);
    for (int ways = 1; ways < 2 * NW_SECTION_LAYERS; ways++) {
        struct nw_section section = {.layout = &layout,
                                     .seed = 1,
                                     .tiling = &tiling,
                                     .ways = ways,
                                     .threads = 2,
                                     .budget = &budget};
        bool taken[SEATS] = {false};
        int32_t seat[CELLS];
        double cost = 1e300;

        if (!(ways &
              (NW_SECTION_STRIPES | NW_SECTION_GROWN | NW_SECTION_STRAIGHT)))
            continue;
        section.seat = seat;
        MUST(nw_section(&section));
        for (int32_t p = 0; p < CELLS; p++) {
            assert_true(seat[p] >= 0 && seat[p] < SEATS && !taken[seat[p]]);
            taken[seat[p]] = true;
        }
        MUST(nw_layout_take_if_better(&layout, seat, &cost));
        if (ways & across && !(ways & NW_SECTION_SPREAD))
            assert_true(cost < in_order);
    }
    nw_layout_fini(&layout);
    nw_tree_fini(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_are_exact_and_cuts_do_not_rise),
        cmocka_unit_test(test_few_vertices_come_to_the_least),
        cmocka_unit_test(test_chains_are_cut_once),
        cmocka_unit_test(test_all_ways_seat_all_cells),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the search on trees. Costs agree with those from scratch. Results
 * are optimal by brute force and by hand, and the same on any number of
 * threads. All results are valid on uneven trees with fixed ranks. */
#include <nodewise/map.h>

#include "base/random.h"
#include "map/graph/bisect_multilevel.h"
#include "map/stencil/grid.h"
#include "support/machine.h"
#include "support/share.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static nw_topology *load(const char *source)
{
    nw_topology *topology;

    MUST(nw_topology_load(source, NULL, &topology));
    return topology;
}

static double cost_of(const nw_topology *topology, const nw_pattern *pattern,
                      const nw_mapping *mapping)
{
    struct nw_cost cost;
    double value;

    MUST(nw_cost_evaluate(topology, pattern, mapping, &cost));
    value = cost.hop_bytes.value;
    nw_cost_fini(&cost);
    return value;
}

static nw_mapping *map_by(const nw_topology *topology,
                          const nw_pattern *pattern,
                          struct nw_map_options options)
{
    nw_mapping *mapping = NULL;

    if (nw_map(topology, pattern, &options, &mapping, NULL))
        fail_msg("%s", nw_error_text());
    return mapping;
}

static double best_by(const nw_topology *topology, const nw_pattern *pattern,
                      const char *algorithm)
{
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    nw_mapping *mapping;
    double cost;

    options.algorithm = algorithm;
    mapping = map_by(topology, pattern, options);
    cost = cost_of(topology, pattern, mapping);
    nw_mapping_free(mapping);
    return cost;
}

/* --- optima --- */

struct brute {
    const nw_topology *topology;
    const nw_pattern *pattern;
    nw_mapping *mapping;
    double best;
};

static void try_all(struct brute *brute, int32_t rank, unsigned taken)
{
    int32_t elements = nw_topology_element_count(brute->topology);

    if (rank == brute->pattern->rank_count) {
        brute->best = fmin(brute->best, cost_of(brute->topology, brute->pattern,
                                                brute->mapping));
        return;
    }
    for (int32_t e = 0; e < elements; e++) {
        if (taken & 1u << e)
            continue;
        brute->mapping->core[rank] = e;
        try_all(brute, rank + 1, taken | 1u << e);
    }
}

/* 6 ranks on 6 to 8 elements, against all assignments. */
static void test_small_ones_are_optimal(void **state)
{
    static const char *const machines[] = {
        "hierarchy:2:4@1:10", "hierarchy:3:2@2:5", "hierarchy:2:2:2@1:3:20"};

    (void)state;
    for (uint64_t seed = 0; seed < 9; seed++) {
        nw_topology *topology = load(machines[seed % 3]);
        struct nw_random random;
        struct brute brute = {.topology = topology, .best = HUGE_VAL};
        nw_pattern *pattern;

        nw_random_init(&random, seed);
        pattern = random_graph(&random, 6, 5 + (int32_t)seed);
        brute.pattern = pattern;
        MUST(nw_mapping_new(topology, 6, &brute.mapping));
        memset(brute.mapping->node, 0, 6 * sizeof(int32_t));
        try_all(&brute, 0, 0);
        assert_true(best_by(topology, pattern, NULL) == brute.best);
        nw_mapping_free(brute.mapping);
        nw_pattern_free(pattern);
        nw_topology_free(topology);
    }
}

/* If all distances are 0, so is the cost of any result. */
static void test_no_distance_costs_nothing(void **state)
{
    static const char *const machines[] = {"hierarchy:20@0", "hierarchy:30@0",
                                           "hierarchy:4:5@0:0"};
    static const char *const names[] = {NULL, "multilevel", "section",
                                        "refine"};
    struct nw_random random;
    nw_pattern *pattern;
    int step = share_step(12, "machines and algorithms");

    (void)state;
    nw_random_init(&random, 3);
    pattern = random_graph(&random, 20, 50);
    for (int i = 0; i < 12; i += step) {
        nw_topology *topology = load(machines[i % 3]);

        assert_true(best_by(topology, pattern, names[i / 3]) == 0);
        nw_topology_free(topology);
    }
    nw_pattern_free(pattern);
}

/* A 4 x 4 grid is mapped onto 4 groups of 4. Squares of 2 x 2 contain 16 of the
 * 24 edges, and each of the other 8 edges costs 10. The cost is 2 x (16 + 80) x
 * 10 bytes. */
static void test_squares_tile_a_square(void **state)
{
    nw_topology *topology = load("hierarchy:4:4@1:10");
    nw_pattern *pattern = generate("stencil2d5:dims=4x4,bytes=10");

    (void)state;
    assert_true(best_by(topology, pattern, "tile") == 1920);
    assert_true(best_by(topology, pattern, NULL) == 1920);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
    topology = load("hierarchy:8:8@1:100");
    /* 4 x 4 x 4 in eight boxes of 2 x 2 x 2: 8 x 12 edges are inside boxes, 48
     * between them */
    pattern = generate("stencil3d7:dims=4x4x4,bytes=1");
    assert_true(best_by(topology, pattern, "tile") == 2 * (96 + 4800));
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

/* Rings of four cells are treated as a grid, too. The grid of 4 x 8 x 8 is
 * periodic in each direction. The search divides it into boxes with 4 edges,
 * and these into boxes of 4 x 4 x 2 with 32 + 24 + 16 of the 768 edges. */
static void test_rings_of_four_are_tiled(void **state)
{
    nw_topology *topology = load("hierarchy:4:8:8@1:10:100");
    nw_pattern *pattern = generate("stencil3d7:dims=4x8x8,bytes=1,periodic=1");

    (void)state;
    assert_true(best_by(topology, pattern, "tile") <=
                2.0 * (64 * 4 + 8 * (72 - 8 * 4) * 10 + (768 - 8 * 72) * 100));
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

/* If the edges of one direction are heavy, boxes become strips. Here, the grid
 * is 8 x 8 with 8 cells in a group, and edges along rows are 100 times as
 * heavy. Each group is then a row, and 7 x 8 edges of weight 1 are between
 * groups. */
static void test_weights_turn_boxes(void **state)
{
    nw_topology *topology = load("hierarchy:8:8@1:10");
    nw_pattern *pattern = generate("stencil2d5:dims=8x8,bytes=1,weights=1:100");

    (void)state;
    assert_true(best_by(topology, pattern, "tile") ==
                2.0 * (7 * 8 * 100 + 7 * 8 * 10));
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

/* Numbers the slots along a path that winds through strips of five columns. */
static void follow_jagged(int rows, int columns, int32_t *slot)
{
    int32_t at = 0;
    int left = 0;

    for (int strip = 0; left < columns; strip++) {
        int width = columns - left < 5 ? columns - left : 5;

        for (int k = 0; k < rows; k++) {
            int row = strip % 2 ? rows - 1 - k : k;

            for (int i = 0; i < width; i++)
                slot[row * columns + left + (k % 2 ? width - 1 - i : i)] = at++;
        }
        left += width;
    }
}

static void add_planted(nw_pattern_builder *builder, const int32_t *slot, int a,
                        int b)
{
    int group = slot[a] / 4 == slot[b] / 4;
    int node = slot[a] / 32 == slot[b] / 32;

    pattern_pair(builder, a, b, NW_KIND_HH, group ? 100 : node ? 30 : 3);
}

/* Edges are heavy within irregular groups of 4 and of 32 cells: no straight cut
 * of the grid comes near the cost of these groups. */
static void test_weights_hide_a_grid(void **state)
{
    nw_topology *topology = load("hierarchy:4:8:16@1:10:100");
    int32_t slot[512];
    nw_pattern_builder *builder;
    nw_pattern *pattern;
    nw_mapping *planted;

    (void)state;
    follow_jagged(16, 32, slot);
    MUST(nw_pattern_builder_new(512, &builder));
    for (int r = 0; r < 512; r++) {
        if (r % 32 < 31)
            add_planted(builder, slot, r, r + 1);
        if (r < 480)
            add_planted(builder, slot, r, r + 32);
    }
    MUST(nw_pattern_builder_build(builder, &pattern));
    MUST(nw_mapping_new(topology, 512, &planted));
    for (int r = 0; r < 512; r++) {
        planted->node[r] = 0;
        planted->core[r] = slot[r];
    }
    assert_true(best_by(topology, pattern, NULL) <=
                cost_of(topology, pattern, planted));
    nw_mapping_free(planted);
    nw_pattern_free(pattern);
    nw_pattern_builder_free(builder);
    nw_topology_free(topology);
}

/* Sizes that are hard to divide, and machines with spare slots: the result is
 * never worse than that of plain bisections, which do not know of the grid, or
 * by less than a hundredth. */
static void test_uneven_grids_keep_up_with_bisection(void **state)
{
    static const struct {
        const char *grid, *machine;
        double most;
    } tries[] = {
        {"stencil3d7:dims=10x10x10,bytes=10", "hierarchy:4:16:64@1:10:100", 1},
        {"stencil3d7:dims=7x11x8,bytes=10", "hierarchy:7:11:8@1:10:100", 1.01},
        {"stencil2d5:dims=22x23,bytes=10", "hierarchy:12:2:24@1:3:10", 1},
        {"stencil3d7:dims=16x16x18,bytes=1,weights=10:1:1",
         "hierarchy:12:2:24:8@1:3:10:20", 1.01},
        {"stencil2d9:dims=30x50", "hierarchy:5:10:30@1:10:100", 1},
        {"stencil2d5:dims=23x29", "hierarchy:23:29@1:10", 1},
        {"stencil3d7:dims=12x18x22", "hierarchy:12:2:24:9@1:3:10:20", 1},
        {"stencil3d7:dims=6x7x9", "hierarchy:6:9:7@1:10:100", 1},
        /* 210 can also be divided by the distance along a diagonal */
        {"stencil3d27:dims=5x6x7", "hierarchy:5:6:7@1:5:20", 1},
        {"stencil2d5:dims=17x17", "hierarchy:17:17@1:10", 1},
        {"stencil2d5:dims=47x53,weights=1:4", "hierarchy:16:10:16@1:10:100", 1},
        {"stencil3d7:dims=14x15x22", "hierarchy:12:5:77@1:10:100", 1},
        {"stencil3d7:dims=3x12x18,periodic=1", "hierarchy:2:4:81@1:10:100", 1},
        {"stencil2d5:dims=37x14", "hierarchy:4:2:65@1:10:100", 1},
        {"stencil3d7:dims=11x2x17", "hierarchy:2:4:47@1:10:100", 1},
        /* with many partners, most ways to cut the grid cost too much */
        {"stencil3d27:dims=15x17x19,weights=10:3:1",
         "hierarchy:12:2:24:9@1:3:10:20", 1.01},
        /* spare slots on small machines, for which another search is used */
        {"stencil2d5:dims=13x5,weights=10:1", "hierarchy:3:4:6@1:3:10", 1},
        /* whole columns fit if more nodes are used than have slots enough */
        {"stencil2d5:dims=4x161,weights=10:2", "hierarchy:13:18:3@4:14:18",
         0.90},
        /* parts with bent borders are much better than bisections */
        {"stencil3d27:dims=11x7x8", "hierarchy:4:8:20@1:10:100", 0.955},
        {"stencil3d7:dims=6x6x4,periodic=1", "hierarchy:7:3:7@1:10:100", 0.98},
    };

    int count = (int)(sizeof tries / sizeof *tries);
    int step = share_step(count, "uneven grids");

    (void)state;
    for (int i = 0; i < count; i += step) {
        nw_pattern *pattern = generate(tries[i].grid);
        nw_topology *topology = load(tries[i].machine);

        assert_true(best_by(topology, pattern, NULL) <=
                    tries[i].most * best_by(topology, pattern, "partition"));
        nw_pattern_free(pattern);
        nw_topology_free(topology);
    }
}

/* --- properties of any result --- */

static nw_topology *uneven(struct nw_random *random)
{
    return machine_new((struct shape){2 + (int)nw_random_below(random, 3),
                                      1 + (int)nw_random_below(random, 2),
                                      2 + (int)nw_random_below(random, 4), 0, 0,
                                      false});
}

/* From a random start and with many steps, the sum of the changes is the
 * cost. */
static void test_changes_sum_to_the_cost(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct nw_map_options options = NW_MAP_OPTIONS_INIT;
        struct nw_random random;
        nw_topology *topology;
        nw_pattern *pattern;
        nw_mapping *mapping, *refined;
        int32_t elements;

        nw_random_init(&random, seed);
        topology = seed % 2 ? uneven(&random) : load("hierarchy:3:5:4@1:4:9");
        elements = nw_topology_element_count(topology);
        pattern =
            random_graph(&random, elements - (int32_t)(seed % 3), 4 * elements);
        options.algorithm = "random";
        options.seed = seed;
        mapping = map_by(topology, pattern, options);
        options.algorithm = "refine";
        options.start = mapping;
        options.steps = 3000; /* the search itself compares both sums */
        refined = map_by(topology, pattern, options);
        assert_true(cost_of(topology, pattern, refined) <=
                    cost_of(topology, pattern, mapping));
        nw_mapping_free(mapping);
        nw_mapping_free(refined);
        nw_pattern_free(pattern);
        nw_topology_free(topology);
    }
}

/* Fixes the first ranks as in another mapping; the others stay open. */
static nw_mapping *fix_some(const nw_topology *topology,
                            const nw_mapping *where, int32_t count)
{
    nw_mapping *fixed;

    MUST(nw_mapping_new(topology, where->rank_count, &fixed));
    for (int32_t r = 0; r < where->rank_count; r++) {
        fixed->node[r] = r < count ? where->node[r] : -1;
        fixed->core[r] = r < count ? where->core[r] : -1;
    }
    return fixed;
}

/* The search itself compares its sum of changes with the cost. Fixed ranks
 * stay, and no result is worse than that without annealing. */
static void test_few_processes_are_simmered(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct nw_map_options options = NW_MAP_OPTIONS_INIT;
        nw_mapping *random_one, *fixed, *begun, *mapping;
        struct nw_random random;
        nw_topology *topology;
        nw_pattern *pattern;
        int32_t elements;

        nw_random_init(&random, seed);
        topology = seed % 2 ? uneven(&random) : load("hierarchy:3:5:4@1:4:9");
        elements = nw_topology_element_count(topology);
        pattern =
            random_graph(&random, elements - (int32_t)(seed % 3), 3 * elements);
        options.seed = seed;
        options.algorithm = "random";
        random_one = map_by(topology, pattern, options);
        fixed = fix_some(topology, random_one, (int32_t)(seed % 4));
        options.fixed = fixed;
        options.algorithm = "default";
        begun = map_by(topology, pattern, options);
        options.algorithm = "multilevel";
        mapping = map_by(topology, pattern, options);
        assert_true(cost_of(topology, pattern, mapping) <
                    cost_of(topology, pattern, begun));
        for (int32_t r = 0; r < (int32_t)(seed % 4); r++)
            assert_int_equal(mapping->core[r], random_one->core[r]);
        nw_mapping_free(random_one);
        nw_mapping_free(fixed);
        nw_mapping_free(begun);
        nw_mapping_free(mapping);
        nw_pattern_free(pattern);
        nw_topology_free(topology);
    }
}

/* A pattern in which every rank sends to all ranks in its row and its
 * column. */
static nw_pattern *rows_and_columns(int32_t rows, int32_t columns)
{
    nw_pattern_builder *builder;
    nw_pattern *pattern;

    MUST(nw_pattern_builder_new(rows * columns, &builder));
    for (int32_t a = 0; a < rows * columns; a++)
        for (int32_t b = 0; b < rows * columns; b++)
            if (a != b &&
                (a / columns == b / columns) != (a % columns == b % columns))
                MUST(nw_pattern_builder_add(builder, a, b, NW_KIND_HH, 10, 1));
    MUST(nw_pattern_builder_build(builder, &pattern));
    nw_pattern_builder_free(builder);
    return pattern;
}

static uint64_t steps_of(const nw_topology *topology, nw_pattern *pattern)
{
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    struct nw_map_report report;
    nw_mapping *mapping;

    options.algorithm = "multilevel";
    MUST(nw_map(topology, pattern, &options, &mapping, &report));
    nw_mapping_free(mapping);
    nw_pattern_free(pattern);
    return report.steps;
}

/* If nearly every swap is accepted and changes much, fewer swaps are tried than
 * the effort alone sets for as many edges. */
static void test_tries_end_where_swaps_are_dear(void **state)
{
    nw_topology *topology = load("hierarchy:16:16@1:10");
    struct nw_random random;
    uint64_t dear, others;

    (void)state;
    nw_random_init(&random, 3);
    dear = steps_of(topology, rows_and_columns(4, 64));
    others = steps_of(topology, random_graph(&random, 256, 256 * 66 / 2));
    assert_true(dear * 2 < others);
    nw_topology_free(topology);
}

static void assert_same(const nw_mapping *a, const nw_mapping *b)
{
    for (int32_t r = 0; r < a->rank_count; r++) {
        assert_int_equal(a->node[r], b->node[r]);
        assert_int_equal(a->core[r], b->core[r]);
    }
}

/* 4096 ranks are enough for several groups in a round and many pieces in a
 * generation. */
static void test_threads_do_not_matter(void **state)
{
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    struct nw_random random;
    nw_topology *topology;
    nw_pattern *pattern;
    nw_mapping *one, *more;
    int step = share_step(2, "numbers of threads");
    int leaves = 64 / share_step(64, "groups of 64 ranks"), ranks = 64 * leaves;
    char machine[64];

    (void)state;
    snprintf(machine, sizeof machine, "hierarchy:4:16:%d@1:10:100", leaves);
    topology = load(machine);
    nw_random_init(&random, 7);
    pattern = random_graph(&random, ranks, ranks * 9 / 4);
    options.steps = 200000 / (uint64_t)share_step(200000, "steps in threads");
    options.threads = 1;
    one = map_by(topology, pattern, options);
    for (int threads = 3; threads > 1; threads -= step) {
        options.threads = threads;
        more = map_by(topology, pattern, options);
        assert_same(one, more);
        nw_mapping_free(more);
    }
    nw_mapping_free(one);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

/* Cases that are large enough for teams of parts and for shares of a grid:
 * annealed partitions, and cuts of grids that cannot be divided evenly, are the
 * same on one thread and on three. */
static void test_threads_do_not_matter_on_large_machines(void **state)
{
    static const struct {
        const char *machine, *grid;
    } cases[] = {
        {"hierarchy:4:128:16@1:10:100", NULL},
        {"hierarchy:7:31:16:41@1:10:100:1000", "stencil2d5:dims=359x367"}};
    int tried = getenv("NW_SHARE") ? 0 : 2;
    struct nw_random random;

    (void)state;
    share_say(tried, 2, "large machines");
    nw_random_init(&random, 8);
    for (int i = 0; i < tried; i++) {
        nw_topology *topology = load(cases[i].machine);
        nw_pattern *pattern = cases[i].grid ? generate(cases[i].grid)
                                            : random_graph(&random, 8192, 9000);
        struct nw_map_options options = NW_MAP_OPTIONS_INIT;
        nw_mapping *one, *three;

        options.steps = 100;
        options.threads = 1;
        one = map_by(topology, pattern, options);
        options.threads = 3;
        three = map_by(topology, pattern, options);
        assert_same(one, three);
        nw_mapping_free(one);
        nw_mapping_free(three);
        nw_pattern_free(pattern);
        nw_topology_free(topology);
    }
}

/* A search that was limited by time and one limited to as many steps have the
 * same result. On a slow machine, the time is increased until it is enough for
 * all shares. */
static void test_steps_repeat_a_time(void **state)
{
    nw_topology *topology = load("hierarchy:4:8:8@1:10:100");
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    struct nw_map_report report;
    struct nw_random random;
    nw_pattern *pattern;
    nw_mapping *timed = NULL, *counted;

    (void)state;
    nw_random_init(&random, 3);
    pattern = random_graph(&random, 256, 1200);
    options.seconds = 0.05;
    do {
        nw_mapping_free(timed);
        options.seconds *= 2;
        MUST(nw_map(topology, pattern, &options, &timed, &report));
    } while (report.hurried);
    options.seconds = 0;
    options.steps = report.steps;
    counted = map_by(topology, pattern, options);
    assert_same(timed, counted);
    nw_mapping_free(timed);
    nw_mapping_free(counted);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

/* Halves have exactly the requested sizes for any graph. */
static void test_halves_are_exact(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct nw_graph graph;
        struct nw_random random;
        struct nw_bisection to;
        int32_t n, target, zeros = 0, at = 0;
        int8_t side[400];

        nw_random_init(&random, seed);
        n = 2 + (int32_t)nw_random_below(&random, 390);
        target = 1 + (int32_t)nw_random_below(&random, (uint64_t)n - 1);
        MUST(nw_graph_init(&graph, n, 2 * (size_t)n));
        for (int32_t v = 0; v < n; v++) { /* makes a ring or a path */
            graph.size[v] = 1;
            graph.load[v] = 1;
            if (v || seed % 2)
                graph.arc[at++] = (struct nw_graph_arc){(v + n - 1) % n, 1};
            if (v + 1 < n || seed % 2)
                graph.arc[at++] = (struct nw_graph_arc){(v + 1) % n, 1};
            graph.row[v + 1] = at;
        }
        to = nw_bisection_exact(&graph, target);
        to.tries = 4;
        MUST(nw_bisect_multilevel(&graph, &to, &random, side));
        for (int32_t v = 0; v < n; v++)
            zeros += !side[v];
        assert_int_equal(zeros, target);
        nw_graph_fini(&graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_ones_are_optimal),
        cmocka_unit_test(test_no_distance_costs_nothing),
        cmocka_unit_test(test_squares_tile_a_square),
        cmocka_unit_test(test_rings_of_four_are_tiled),
        cmocka_unit_test(test_weights_turn_boxes),
        cmocka_unit_test(test_weights_hide_a_grid),
        cmocka_unit_test(test_uneven_grids_keep_up_with_bisection),
        cmocka_unit_test(test_changes_sum_to_the_cost),
        cmocka_unit_test(test_few_processes_are_simmered),
        cmocka_unit_test(test_tries_end_where_swaps_are_dear),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_threads_do_not_matter_on_large_machines),
        cmocka_unit_test(test_steps_repeat_a_time),
        cmocka_unit_test(test_halves_are_exact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of mappings with several ranks on an element. For any input, the search
 * returns a result within its limits or a reason for returning none. Costs that
 * are updated move by move equal those from scratch. Tiny cases are compared
 * with every possible result. */
#include "base/random.h"
#include "map/capacity/several.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

static nw_topology *load(const char *source)
{
    nw_topology *topology;

    assert_int_equal(nw_topology_load(source, NULL, &topology), NW_OK);
    return topology;
}

static nw_pattern *make_random(int32_t n, int32_t edges,
                               struct nw_random *random)
{
    nw_pattern_builder *builder;
    nw_pattern *pattern;

    assert_int_equal(nw_pattern_builder_new(n, &builder), NW_OK);
    for (int32_t i = 0; i < edges; i++)
        assert_int_equal(nw_pattern_builder_add(
                             builder,
                             (int32_t)nw_random_below(random, (uint64_t)n),
                             (int32_t)nw_random_below(random, (uint64_t)n),
                             NW_KIND_HH, nw_random_below(random, 9), 1),
                         NW_OK);
    assert_int_equal(nw_pattern_builder_build(builder, &pattern), NW_OK);
    nw_pattern_builder_free(builder);
    return pattern;
}

static nw_pattern *make_grid(int32_t side)
{
    char words[64];
    nw_pattern *pattern;

    snprintf(words, sizeof words, "stencil2d5:dims=%dx%d", side, side);
    assert_int_equal(nw_pattern_generate(words, &pattern), NW_OK);
    return pattern;
}

static double hop_bytes(const nw_topology *topology, const nw_pattern *pattern,
                        const nw_mapping *mapping)
{
    struct nw_cost cost;
    double sum;

    assert_int_equal(nw_cost_evaluate(topology, pattern, mapping, &cost),
                     NW_OK);
    sum = cost.hop_bytes.value;
    nw_cost_fini(&cost);
    return sum;
}

static int32_t element_of(const nw_topology *topology,
                          const nw_mapping *mapping, int32_t rank)
{
    return nw_topology_node_elements(topology, mapping->node[rank]).first +
           nw_mapping_cores(mapping, rank).values[0];
}

static const char *const machines[] = {
    "hierarchy:2:2@1:10",
    "hierarchy:3:2:2@1:10:100",
    "hierarchy:5@1",
    "hwloc:package:2 core:3 pu:1",
    "magc-a",
};

/* Checks every rule of the options from the mapping alone. */
static void check_rules(const nw_topology *topology, const nw_mapping *mapping,
                        const struct nw_map_options *options)
{
    size_t k = (size_t)nw_topology_element_count(topology);
    double *load = calloc(k, sizeof *load), all = 0, speed = 0;
    int32_t *count = calloc(k, sizeof *count);

    for (int32_t r = 0; r < mapping->rank_count; r++) {
        int32_t q = element_of(topology, mapping, r);
        double weight = options->weights ? (double)options->weights[r] : 1;

        load[q] += weight;
        all += weight;
        count[q]++;
        if (options->fixed && options->fixed->node[r] >= 0) {
            assert_int_equal(mapping->node[r], options->fixed->node[r]);
            if (options->fixed->core[r] >= 0)
                assert_int_equal(mapping->core[r], options->fixed->core[r]);
        }
    }
    for (size_t q = 0; q < k; q++)
        speed += options->speeds ? options->speeds[q] : 1;
    for (size_t q = 0; q < k; q++) {
        double mine = options->speeds ? options->speeds[q] : 1;

        if (options->capacity)
            assert_true(count[q] <= options->capacity);
        if (options->imbalance >= 0 && !options->capacity)
            assert_true(load[q] <= (1 + options->imbalance) *
                                           ceil(all * mine / speed - 1e-6) +
                                       1e-6);
    }
    free(load);
    free(count);
}

struct inputs {
    nw_topology *topology;
    nw_pattern *pattern;
    nw_mapping *fixed;
    uint64_t weight[300];
    double speed[300];
    struct nw_map_options options;
};

static void fix_some(struct inputs *in, struct nw_random *random)
{
    int32_t nodes = nw_topology_node_count(in->topology);

    assert_int_equal(
        nw_mapping_new(in->topology, in->pattern->rank_count, &in->fixed),
        NW_OK);
    for (int32_t r = 0; r < in->pattern->rank_count; r++) {
        int32_t node = (int32_t)nw_random_below(random, (uint64_t)nodes);

        if (nw_random_below(random, 8))
            continue;
        in->fixed->node[r] = node;
        if (nw_random_below(random, 2))
            in->fixed->core[r] = (int32_t)nw_random_below(
                random,
                (uint64_t)nw_topology_node_elements(in->topology, node).count);
    }
    in->options.fixed = in->fixed;
}

static void make_inputs(struct inputs *in, uint64_t seed)
{
    struct nw_random random;
    int32_t n;

    *in = (struct inputs){.options = NW_MAP_OPTIONS_INIT};
    nw_random_init(&random, seed);
    in->topology = load(
        machines[nw_random_below(&random, sizeof machines / sizeof *machines)]);
    n = 1 + (int32_t)nw_random_below(&random, 200);
    in->pattern = make_random(n, 4 * n, &random);
    in->options.seed = seed;
    in->options.threads = 1 + (int32_t)(seed % 2);
    in->options.objective = NW_OBJECTIVE_HOP_BYTES;
    in->options.effort = seed % 12 ? NW_EFFORT_FAST : NW_EFFORT_DEFAULT;
    if (nw_random_below(&random, 2))
        in->options.capacity = 2 + (int32_t)nw_random_below(&random, 60);
    if (!in->options.capacity || nw_random_below(&random, 2))
        in->options.imbalance = 0.05 * (double)nw_random_below(&random, 10);
    for (int i = 0; i < 300; i++) {
        in->weight[i] = nw_random_below(&random, 5);
        in->speed[i] = (double)nw_random_below(&random, 4) + 0.5;
    }
    if (nw_random_below(&random, 2))
        in->options.weights = in->weight;
    if (nw_random_below(&random, 2))
        in->options.speeds = in->speed;
    if (!nw_random_below(&random, 3))
        fix_some(in, &random);
}

static void free_inputs(struct inputs *in)
{
    nw_topology_free(in->topology);
    nw_pattern_free(in->pattern);
    nw_mapping_free(in->fixed);
}

/* Checks that the mapping is at least as good as the default, if the default
 * keeps the limits. */
static void never_worse(const struct inputs *in, const nw_mapping *mapping)
{
    nw_mapping *standard;

    if (in->options.weights || in->options.speeds || in->options.fixed)
        return;
    assert_int_equal(
        nw_map_default(in->topology, in->pattern, &in->options, &standard),
        NW_OK);
    assert_true(hop_bytes(in->topology, in->pattern, mapping) <=
                hop_bytes(in->topology, in->pattern, standard) * (1 + 1e-9));
    nw_mapping_free(standard);
}

static void test_rules_hold(void **state)
{
    int answered = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct inputs in;
        nw_mapping *mapping = NULL;
        nw_status status;

        make_inputs(&in, seed);
        status = nw_map(in.topology, in.pattern, &in.options, &mapping, NULL);
        if (status) {
            assert_int_equal(status, NW_EINVAL);
            assert_true(strlen(nw_error_text()) > 10);
        } else {
            check_rules(in.topology, mapping, &in.options);
            never_worse(&in, mapping);
            answered++;
        }
        nw_mapping_free(mapping);
        free_inputs(&in);
    }
    assert_true(answered > 100);
}

static const char *const by_name[] = {
    "refine", "anneal",    "tabu",        "cyclic", "random",
    "scotch", "partition", "magc-greedy", "rashti",
};

static void test_names_keep_the_rules(void **state)
{
    struct rusage usage;
    int answered = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 90; seed++) {
        struct inputs in;
        nw_mapping *mapping = NULL;
        nw_status status;

        make_inputs(&in, seed);
        in.options.weights = NULL;
        in.options.algorithm = by_name[seed % 9];
        status = nw_map(in.topology, in.pattern, &in.options, &mapping, NULL);
        if (status == NW_OK) {
            check_rules(in.topology, mapping, &in.options);
            answered++;
        } else if (status != NW_ENODEV) { /* no Scotch */
            assert_int_equal(status, NW_EINVAL);
        }
        nw_mapping_free(mapping);
        free_inputs(&in);
    }
    assert_true(answered > 30);
    /* there are at most 111 elements; Scotch once used 4 GB to bisect them */
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    assert_true(usage.ru_maxrss < 1 << 20); /* KiB */
}

/* A given mapping is improved, with any number of ranks; if it exceeds the
 * limits, the result is within them. */
static void test_given_is_improved(void **state)
{
    nw_topology *topology = load("hierarchy:4:4:8@1:10:100");
    nw_pattern *pattern = make_grid(30);
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    nw_mapping *given, *found;
    double before;

    (void)state;
    options.objective = NW_OBJECTIVE_HOP_BYTES;
    options.effort = NW_EFFORT_FAST;
    options.capacity = 12;
    options.algorithm = "partition";
    assert_int_equal(nw_map(topology, pattern, &options, &given, NULL), NW_OK);
    before = hop_bytes(topology, pattern, given);
    options.start = given;
    options.algorithm = "refine";
    assert_int_equal(nw_map(topology, pattern, &options, &found, NULL), NW_OK);
    assert_true(hop_bytes(topology, pattern, found) < before);
    nw_mapping_free(found);
    options.algorithm = "multilevel";
    assert_int_equal(nw_map(topology, pattern, &options, &found, NULL), NW_OK);
    assert_true(hop_bytes(topology, pattern, found) < before);
    nw_mapping_free(found);
    options.algorithm = "refine";
    options.capacity = 8;
    assert_int_equal(nw_map(topology, pattern, &options, &found, NULL), NW_OK);
    check_rules(topology, found, &options);
    nw_mapping_free(found);
    nw_mapping_free(given);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

static double congestion_by(const nw_topology *topology,
                            const nw_pattern *pattern, const char *name)
{
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    nw_mapping *mapping;
    struct nw_cost cost;
    double most;

    options.objective = NW_OBJECTIVE_CONGESTION;
    options.effort = NW_EFFORT_FAST;
    options.capacity = 6;
    options.algorithm = name;
    assert_int_equal(nw_map(topology, pattern, &options, &mapping, NULL),
                     NW_OK);
    assert_int_equal(nw_cost_evaluate(topology, pattern, mapping, &cost),
                     NW_OK);
    most = cost.max_congestion;
    nw_cost_fini(&cost);
    nw_mapping_free(mapping);
    return most;
}

static void test_auto_is_the_best_by_name(void **state)
{
    static const char *const name[] = {"multilevel", "partition", "magc-greedy",
                                       "cyclic", "block"};
    nw_topology *topology = load("summit");

    (void)state;
    for (int32_t side = 12; side <= 24; side += 12) {
        nw_pattern *pattern = make_grid(side);
        double most = congestion_by(topology, pattern, "auto");

        for (size_t i = 0; i < sizeof name / sizeof *name; i++)
            assert_true(most <=
                        congestion_by(topology, pattern, name[i]) * (1 + 1e-9));
        nw_pattern_free(pattern);
    }
    nw_topology_free(topology);
}

/* Each triangle gets an element of its own. With the fewest possible elements,
 * some triangles would be cut. */
static void test_all_elements_may_be_used(void **state)
{
    enum { TRIANGLES = 256 };
    nw_topology *topology = load("hierarchy:16:16@1:10");
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    nw_pattern_builder *builder;
    nw_pattern *pattern;
    nw_mapping *mapping;

    (void)state;
    assert_int_equal(nw_pattern_builder_new(3 * TRIANGLES, &builder), NW_OK);
    for (int32_t i = 0; i < 3 * TRIANGLES; i++)
        assert_int_equal(nw_pattern_builder_add(
                             builder, i, (i + TRIANGLES) % (3 * TRIANGLES),
                             NW_KIND_HH, 100, 1),
                         NW_OK);
    assert_int_equal(nw_pattern_builder_build(builder, &pattern), NW_OK);
    options.objective = NW_OBJECTIVE_HOP_BYTES;
    options.capacity = 4;
    assert_int_equal(nw_map(topology, pattern, &options, &mapping, NULL),
                     NW_OK);
    assert_true(hop_bytes(topology, pattern, mapping) == 0);
    nw_mapping_free(mapping);
    nw_pattern_builder_free(builder);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

/* Without weights, speeds and fixed ranks, a result always exists if the sum of
 * the capacities is large enough. */
static void test_plain_is_always_answered(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct inputs in;
        nw_mapping *mapping;

        make_inputs(&in, seed);
        in.options.weights = NULL;
        in.options.speeds = NULL;
        in.options.fixed = NULL;
        in.options.capacity = 0;
        in.options.imbalance = 0.01 * (double)(seed % 4);
        assert_int_equal(
            nw_map(in.topology, in.pattern, &in.options, &mapping, NULL),
            NW_OK);
        check_rules(in.topology, mapping, &in.options);
        nw_mapping_free(mapping);
        free_inputs(&in);
    }
}

static void test_threads_do_not_matter(void **state)
{
    nw_topology *topology = load("hierarchy:4:4@1:10");
    nw_pattern *pattern = make_grid(24);
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    nw_mapping *one, *two;

    (void)state;
    options.imbalance = 0.03;
    options.threads = 1;
    assert_int_equal(nw_map(topology, pattern, &options, &one, NULL), NW_OK);
    options.threads = 3;
    assert_int_equal(nw_map(topology, pattern, &options, &two, NULL), NW_OK);
    assert_memory_equal(one->core, two->core, 576 * sizeof *one->core);
    nw_mapping_free(one);
    nw_mapping_free(two);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

/* The same number of steps has the same result, and more steps have no worse
 * one. */
static void test_steps_repeat(void **state)
{
    nw_topology *topology = load("hierarchy:4:4@1:10");
    nw_pattern *pattern = make_grid(20);
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    struct nw_map_report report;
    double last = HUGE_VAL;

    (void)state;
    options.imbalance = 0.03;
    for (uint64_t steps = 1; steps < 12; steps++) {
        nw_mapping *mapping;
        double now;

        options.steps = steps;
        options.threads = (int32_t)(steps % 3 + 1);
        assert_int_equal(nw_map(topology, pattern, &options, &mapping, &report),
                         NW_OK);
        assert_int_equal(report.steps, steps);
        now = hop_bytes(topology, pattern, mapping);
        assert_true(now <= last);
        last = now;
        nw_mapping_free(mapping);
    }
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

/* If the search is cancelled before it begins, one result is made quickly and
 * keeps every limit. */
static void test_called_off_is_within_limits(void **state)
{
    nw_topology *topology = load("hierarchy:4:4:4@1:10:100");
    nw_pattern *pattern = make_grid(80);
    struct nw_progress progress = {.cancelled = 1};
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    struct nw_map_report report;
    nw_mapping *mapping;

    (void)state;
    options.imbalance = 0.03;
    options.threads = 1;
    options.progress = &progress;
    assert_int_equal(nw_map(topology, pattern, &options, &mapping, &report),
                     NW_OK);
    check_rules(topology, mapping, &options);
    assert_int_equal(report.steps, 1);
    assert_true(report.hurried);
    nw_mapping_free(mapping);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

/* If the time is already over, no cut is computed: ranks are assigned in order,
 * which here is within the limits. */
static void test_called_off_is_in_order(void **state)
{
    nw_topology *topology = load("hierarchy:4:4:4@1:10:100");
    nw_pattern *pattern = make_grid(80);
    struct nw_progress progress = {.cancelled = 1};
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    nw_mapping *mapping;

    (void)state;
    options.imbalance = 0.03;
    options.progress = &progress;
    assert_int_equal(nw_map(topology, pattern, &options, &mapping, NULL),
                     NW_OK);
    for (int32_t r = 0; r < mapping->rank_count; r++)
        assert_int_equal(mapping->core[r], r / 100);
    nw_mapping_free(mapping);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

/* Ranks in order would put heavy ranks together where each element can take
 * only one: the limits are kept nevertheless. */
static void test_called_off_is_an_answer(void **state)
{
    nw_topology *topology = load("hierarchy:4:4@1:10");
    nw_pattern *pattern = make_grid(8);
    uint64_t weights[64];
    struct nw_progress progress = {.cancelled = 1};
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    nw_mapping *mapping;

    (void)state;
    for (int r = 0; r < 64; r++)
        weights[r] = r < 16 ? 97 : 1;
    options.imbalance = 0.03;
    options.weights = weights;
    options.progress = &progress;
    assert_int_equal(nw_map(topology, pattern, &options, &mapping, NULL),
                     NW_OK);
    check_rules(topology, mapping, &options);
    nw_mapping_free(mapping);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

static double figure_of(const nw_topology *topology, const nw_pattern *pattern,
                        const nw_mapping *mapping, enum nw_objective objective)
{
    struct nw_cost cost;
    double figure;

    assert_int_equal(nw_cost_evaluate(topology, pattern, mapping, &cost),
                     NW_OK);
    figure = nw_cost_objective(&cost, objective);
    nw_cost_fini(&cost);
    return figure;
}

/* The least cost of every assignment of few ranks to few elements, with rank 0
 * where it is fixed. */
static double least_cost(const nw_topology *topology, const nw_pattern *pattern,
                         const struct nw_map_options *options)
{
    int32_t n = pattern->rank_count, k = nw_topology_element_count(topology);
    double least = HUGE_VAL;
    nw_mapping *mapping;
    long all = 1;

    for (int32_t r = 0; r < n; r++)
        all *= k;
    assert_int_equal(nw_mapping_new(topology, n, &mapping), NW_OK);
    for (long code = 0; code < all; code++) {
        int32_t count[8] = {0};
        long rest = code;
        bool fits =
            !options->fixed || options->fixed->core[0] == (int32_t)(rest % k);
        double now;

        for (int32_t r = 0; r < n; r++, rest /= k) {
            mapping->node[r] = 0;
            mapping->core[r] = (int32_t)(rest % k);
            fits &= ++count[rest % k] <= options->capacity;
        }
        if (!fits)
            continue;
        now = figure_of(topology, pattern, mapping, options->objective);
        least = now < least ? now : least;
    }
    nw_mapping_free(mapping);
    return least;
}

static void assert_optimal(const nw_topology *topology, int i,
                           struct nw_random *random)
{
    static const enum nw_objective objectives[] = {
        NW_OBJECTIVE_HOP_BYTES, NW_OBJECTIVE_CONGESTION, NW_OBJECTIVE_TIME};
    nw_pattern *pattern = make_random(3 + i % 3, 14, random);
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    nw_mapping *mapping, *fixed = NULL;

    options.capacity = 2;
    options.objective = objectives[i % 3];
    if (i % 2) {
        assert_int_equal(nw_mapping_new(topology, pattern->rank_count, &fixed),
                         NW_OK);
        for (int32_t r = 0; r < pattern->rank_count; r++)
            fixed->node[r] = fixed->core[r] = -1;
        fixed->node[0] = 0;
        fixed->core[0] = (int32_t)nw_random_below(random, 4);
        options.fixed = fixed;
    }
    assert_int_equal(nw_map(topology, pattern, &options, &mapping, NULL),
                     NW_OK);
    check_rules(topology, mapping, &options);
    assert_true(figure_of(topology, pattern, mapping, options.objective) <=
                least_cost(topology, pattern, &options) * (1 + 1e-9));
    nw_mapping_free(mapping);
    nw_mapping_free(fixed);
    nw_pattern_free(pattern);
}

static void test_tiny_ones_are_optimal(void **state)
{
    nw_topology *topology = load("hierarchy:2:2@1:10");
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 7);
    for (int i = 0; i < 24; i++)
        assert_optimal(topology, i, &random);
    nw_topology_free(topology);
}

/* Makes random moves: the sum of gains is the difference of the costs. */
static void test_gains_add_up(void **state)
{
    enum { N = 60, K = 12 };
    struct nw_graph_arc arc[N * 8];
    int32_t part[N];
    double table[K * K];
    size_t row[N + 1] = {0};
    nw_graph_load limit[K];
    int64_t load[N];
    int32_t size[N], capacity[K];
    struct nw_graph g = {N, row, arc, size, load, .range = NULL};
    struct nw_kway_machine m = {
        .k = K, .table = table, .limit = limit, .capacity = capacity};
    struct nw_kway_state s;
    struct nw_random random;
    double before;

    (void)state;
    nw_random_init(&random, 3);
    for (int i = 0; i < K; i++) {
        limit[i] = capacity[i] = N;
        for (int j = 0; j <= i; j++)
            table[i * K + j] = table[j * K + i] =
                i == j ? 0 : (double)nw_random_below(&random, 50);
    }
    /* a ring with chords; each edge is stored at both ends with the same
     * weight */
    for (int v = 0; v < N; v++) {
        static const int reach[] = {1, N - 1, 7, N - 7, 13, N - 13};

        for (int i = 0; i < 6; i++) {
            int u = (v + reach[i]) % N;

            arc[6 * v + i] =
                (struct nw_graph_arc){u, (float)(1 + (v * u) % 11)};
        }
        row[v + 1] = (size_t)(6 * v + 6);
        load[v] = size[v] = 1;
        part[v] = (int32_t)nw_random_below(&random, K);
    }
    before = nw_kway_cost(&g, &m, part);
    assert_int_equal(nw_kway_state_init(&s, &g, &m, part), NW_OK);
    for (int i = 0; i < 1000; i++) {
        int32_t v = (int32_t)nw_random_below(&random, N);
        struct nw_kway_moves best = nw_kway_state_best(&s, v);

        if (i % 2 || best.fit.to < 0) {
            best.fit.to = (int32_t)nw_random_below(&random, K);
            nw_kway_state_gather(&s, v);
            best.fit.gain = nw_kway_state_cost(&s, part[v]) -
                            nw_kway_state_cost(&s, best.fit.to);
            nw_kway_state_forget(&s);
        }
        nw_kway_state_move(&s, v, best.fit);
        assert_true(before - nw_kway_cost(&g, &m, part) == s.gained);
    }
    nw_kway_state_fini(&s);
}

/* More elements than fit the table of distances, with distances that differ by
 * direction: a build with assertions compares the gains of moves with the cost
 * from scratch. */
static void test_ways_of_large_matrices_differ(void **state)
{
    enum { K = 2049 };
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    double *far = calloc((size_t)K * K, sizeof *far);
    struct nw_random random;
    nw_topology *topology;
    nw_pattern *pattern;
    nw_mapping *mapping;

    (void)state;
    nw_random_init(&random, 5);
    for (size_t i = 0; i < (size_t)K * K; i++)
        far[i] = i / K == i % K ? 0 : (double)(1 + nw_random_below(&random, 9));
    assert_int_equal(nw_topology_from_distances("m", far, K, &topology), NW_OK);
    pattern = make_random(2 * K, 4 * K, &random);
    options.capacity = 3;
    options.effort = NW_EFFORT_FAST;
    assert_int_equal(nw_map(topology, pattern, &options, &mapping, NULL),
                     NW_OK);
    check_rules(topology, mapping, &options);
    nw_mapping_free(mapping);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
    free(far);
}

static void expect_refusal(const char *machine, int32_t ranks,
                           const struct nw_map_options *options,
                           const char *words)
{
    nw_topology *topology = load(machine);
    struct nw_random random;
    nw_pattern *pattern;
    nw_mapping *mapping;

    nw_random_init(&random, 1);
    pattern = make_random(ranks, 3 * ranks, &random);
    assert_int_equal(nw_map(topology, pattern, options, &mapping, NULL),
                     NW_EINVAL);
    if (!strstr(nw_error_text(), words))
        fail_msg("'%s' is not in '%s'", words, nw_error_text());
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

static void test_refusals_say_why(void **state)
{
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    const uint64_t weights[4] = {1, 1, 50, 1};
    const uint64_t huge[4] = {UINT64_MAX, 1, 1, 1};

    (void)state;
    options.capacity = 2;
    expect_refusal("hierarchy:2:2@1:10", 9, &options, "9 ranks do not fit");
    options.algorithm = "tile";
    expect_refusal("hierarchy:2:2@1:10", 8, &options, "tile");
    options.algorithm = "tabu";
    expect_refusal("hierarchy:16:32@1:10", 600, &options, "few ranks");
    options.algorithm = NULL;
    options.capacity = 0;
    options.imbalance = 0.1;
    options.weights = weights;
    expect_refusal("hierarchy:2:2@1:10", 4, &options, "weight 50");
    options.algorithm = "cyclic";
    options.imbalance = 100;
    expect_refusal("hierarchy:2:2@1:10", 4, &options,
                   "cyclic cannot map ranks of different weights");
    options.algorithm = NULL;
    options.weights = huge;
    expect_refusal("hierarchy:2:2@1:10", 4, &options, "2^63");
}

/* Weights with a sum of exactly 2^63, on elements that each take two ranks: the
 * weights of one element sum to exactly 2^62, which doubles cannot distinguish
 * from 2^62 + 1. */
static void test_huge_weights_are_exact(void **state)
{
    const uint64_t half = (uint64_t)1 << 61;
    const uint64_t weights[4] = {half + 1, half - 1, half + 3, half - 3};
    nw_topology *topology = load("hierarchy:2@1");
    nw_pattern *pattern = make_grid(2);
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    uint64_t sum[2] = {0};
    nw_mapping *mapping;

    (void)state;
    options.imbalance = 0;
    options.weights = weights;
    assert_int_equal(nw_map(topology, pattern, &options, &mapping, NULL),
                     NW_OK);
    for (int32_t r = 0; r < 4; r++)
        sum[mapping->core[r]] += weights[r];
    assert_true(sum[0] == 2 * half && sum[1] == 2 * half);
    nw_mapping_free(mapping);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

/* A list of fixed ranks names its nodes in an order of its own: ranks keep the
 * node with that name, whatever its number in the topology. */
static void test_fixed_nodes_go_by_name(void **state)
{
    nw_topology *topology = load("magc-a");
    nw_pattern *pattern = make_grid(4);
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    nw_mapping *fixed, *mapping;
    char *first;

    (void)state;
    assert_int_equal(nw_mapping_new(topology, 16, &fixed), NW_OK);
    first = fixed->node_name[0];
    fixed->node_name[0] = fixed->node_name[2];
    fixed->node_name[2] = first;
    fixed->node[5] = 0;
    options.fixed = fixed;
    options.capacity = 2;
    assert_int_equal(nw_map(topology, pattern, &options, &mapping, NULL),
                     NW_OK);
    assert_int_equal(mapping->node[5], 2);
    nw_mapping_free(mapping);
    nw_mapping_free(fixed);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules_hold),
        cmocka_unit_test(test_names_keep_the_rules),
        cmocka_unit_test(test_given_is_improved),
        cmocka_unit_test(test_all_elements_may_be_used),
        cmocka_unit_test(test_auto_is_the_best_by_name),
        cmocka_unit_test(test_plain_is_always_answered),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_steps_repeat),
        cmocka_unit_test(test_called_off_is_within_limits),
        cmocka_unit_test(test_called_off_is_in_order),
        cmocka_unit_test(test_called_off_is_an_answer),
        cmocka_unit_test(test_tiny_ones_are_optimal),
        cmocka_unit_test(test_gains_add_up),
        cmocka_unit_test(test_ways_of_large_matrices_differ),
        cmocka_unit_test(test_refusals_say_why),
        cmocka_unit_test(test_huge_weights_are_exact),
        cmocka_unit_test(test_fixed_nodes_go_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

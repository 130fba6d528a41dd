/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests with one rank on each element and limits of load: the limits are
 * computed here only by the rule of the manual page, and small cases are
 * compared with all assignments. */
#include "base/array.h"
#include "base/random.h"
#include "base/status.h"
#include "topology/topology.h"

#include <nodewise/nodewise.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MUST(call) assert_int_equal(call, NW_OK)
#define MOST 64

static nw_topology *load_topology(const char *source)
{
    nw_topology *topology;

    MUST(nw_topology_load(source, NULL, &topology));
    return topology;
}

/* Distances that differ by direction. */
static nw_topology *load_matrix(int32_t k, struct nw_random *random)
{
    double *d = calloc((size_t)(k * k), sizeof *d);
    nw_topology *topology;

    for (int32_t i = 0; i < k * k; i++)
        d[i] = i / k == i % k ? 0 : (double)(1 + nw_random_below(random, 20));
    MUST(nw_topology_from_distances("m", d, (size_t)k, &topology));
    free(d);
    return topology;
}

static nw_pattern *make_pattern(int32_t n, bool gpus, struct nw_random *random)
{
    nw_pattern_builder *builder;
    nw_pattern *pattern;

    MUST(nw_pattern_builder_new(n, &builder));
    for (int32_t i = 0; i < 3 * n; i++)
        MUST(nw_pattern_builder_add(
            builder, (int32_t)nw_random_below(random, (uint64_t)n),
            (int32_t)nw_random_below(random, (uint64_t)n),
            gpus && i % 2 ? NW_KIND_GG : NW_KIND_HH,
            1 + nw_random_below(random, 90), 1 + nw_random_below(random, 3)));
    MUST(nw_pattern_builder_build(builder, &pattern));
    nw_pattern_builder_free(builder);
    return pattern;
}

/* --- the rule --- */

struct limited {
    nw_topology *topology;
    nw_pattern *pattern;
    struct nw_random random;
    uint64_t weight[MOST];
    double *speed;
    double *limit; /* [elements] */
    bool eased;    /* the imbalance is set so that the fastest elements can
                      take the heaviest rank */
    struct nw_map_options options;
};

/* Computes the limits: the load is divided in proportion to the speeds, but no
 * element gets more than the heaviest rank; the mean is rounded up, and the
 * imbalance is added to it. */
static void find_limits(struct limited *in, int32_t n)
{
    int32_t k = nw_topology_element_count(in->topology);
    double all = 0, heaviest = 0, low = 0, high = 1e9;

    for (int32_t r = 0; r < n; r++) {
        all += (double)in->weight[r];
        heaviest = fmax(heaviest, (double)in->weight[r]);
    }
    for (int i = 0; i < 200; i++) {
        double level = (low + high) / 2, sum = 0;

        for (int32_t q = 0; q < k; q++)
            sum += fmin(in->speed[q] * level, heaviest);
        if (sum < all)
            low = level;
        else
            high = level;
    }
    if (in->eased)
        in->options.imbalance =
            fmax(0, 1.2 * heaviest / fmin(3 * high, heaviest) - 1);
    in->limit = calloc((size_t)k, sizeof *in->limit);
    for (int32_t q = 0; q < k; q++)
        in->limit[q] = (1 + in->options.imbalance) *
                       ceil(fmin(in->speed[q] * high, heaviest) - 1e-6);
}

static void init(struct limited *in, nw_topology *topology, int32_t n,
                 bool gpus)
{
    int32_t k = nw_topology_element_count(topology);

    in->topology = topology;
    in->pattern = make_pattern(n, gpus, &in->random);
    in->options = (struct nw_map_options)NW_MAP_OPTIONS_INIT;
    in->options.capacity = 1;
    in->options.imbalance = 0.1 * (double)nw_random_below(&in->random, 8);
    in->speed = calloc((size_t)k, sizeof *in->speed);
    for (int32_t r = 0; r < n; r++)
        in->weight[r] = 1000 * nw_random_below(&in->random, 5);
    for (int32_t q = 0; q < k; q++)
        in->speed[q] = (double)(1 + nw_random_below(&in->random, 3));
    in->options.weights = in->weight;
    in->options.speeds = in->speed;
    in->options.effort = NW_EFFORT_FAST;
}

static void fini(struct limited *in)
{
    nw_topology_free(in->topology);
    nw_pattern_free(in->pattern);
    free(in->speed);
    free(in->limit);
}

static int32_t element_of(const struct limited *in, const nw_mapping *mapping,
                          int32_t rank)
{
    return nw_topology_node_elements(in->topology, mapping->node[rank]).first +
           nw_mapping_cores(mapping, rank).values[0];
}

static bool is_borne(const struct limited *in, int32_t rank, int32_t element)
{
    return (double)in->weight[rank] <= in->limit[element] + 1e-6;
}

static void check(const struct limited *in, const nw_mapping *mapping)
{
    size_t k = (size_t)nw_topology_element_count(in->topology);
    bool *taken = calloc(k, sizeof *taken);

    for (int32_t r = 0; r < mapping->rank_count; r++) {
        int32_t q = element_of(in, mapping, r);

        assert_false(taken[q]);
        taken[q] = true;
        assert_true(is_borne(in, r, q));
    }
    free(taken);
}

static double value_of(const struct limited *in, const nw_mapping *mapping)
{
    struct nw_cost cost;
    double value;

    MUST(nw_cost_evaluate(in->topology, in->pattern, mapping, &cost));
    value = nw_cost_objective(&cost, in->options.objective);
    nw_cost_fini(&cost);
    return value;
}

/* --- against all assignments --- */

/* The least cost of all assignments; HUGE_VAL if none keeps the limits. */
static double least_of(const struct limited *in, nw_mapping *mapping,
                       int32_t rank, uint32_t taken)
{
    int32_t k = nw_topology_element_count(in->topology);
    double least = HUGE_VAL;

    if (rank == mapping->rank_count)
        return value_of(in, mapping);
    for (int32_t q = 0; q < k; q++) {
        if (taken >> q & 1 || !is_borne(in, rank, q))
            continue;
        mapping->node[rank] = nw_topology_element_node(in->topology, q);
        mapping->core[rank] =
            q -
            nw_topology_node_elements(in->topology, mapping->node[rank]).first;
        least = fmin(least, least_of(in, mapping, rank + 1, taken | 1u << q));
    }
    return least;
}

static nw_topology *small_machine(int kind, struct nw_random *random)
{
    static const char *const sources[] = {"hierarchy:3:2@1:10",
                                          "hwloc:package:2 core:3 pu:1",
                                          "hierarchy:2:1:3@1:5:9"};

    return kind < 3 ? load_topology(sources[kind]) : load_matrix(6, random);
}

static void test_small_ones_are_optimal(void **state)
{
    int bound = 0;

    (void)state;
    for (int i = 0; i < 60; i++) {
        struct limited in = {0};
        nw_mapping *mapping = NULL, *trial;
        int32_t n;
        double least;
        nw_status status;

        nw_random_init(&in.random, (uint64_t)i);
        n = 2 + (int32_t)nw_random_below(&in.random, 4);
        init(&in, small_machine(i % 4, &in.random), n, false);
        in.options.effort = NW_EFFORT_DEFAULT;
        in.options.objective = i % 8 < 4   ? NW_OBJECTIVE_HOP_BYTES
                               : i % 4 < 3 ? NW_OBJECTIVE_CONGESTION
                                           : NW_OBJECTIVE_LATENCY;
        in.eased = i % 3;
        find_limits(&in, n);
        MUST(nw_mapping_new(in.topology, n, &trial));
        least = least_of(&in, trial, 0, 0);
        status = nw_map(in.topology, in.pattern, &in.options, &mapping, NULL);
        assert_int_equal(status == NW_OK, least < HUGE_VAL);
        if (!status) {
            check(&in, mapping);
            assert_true(value_of(&in, mapping) <= least * (1 + 1e-9));
            for (int32_t r = 0; r < n; r++)
                for (int32_t q = 0; q < 6; q++)
                    bound += !is_borne(&in, r, q);
        }
        nw_mapping_free(mapping);
        nw_mapping_free(trial);
        fini(&in);
    }
    assert_true(bound > 50);
}

/* --- every algorithm --- */

static void test_all_keep_limits(void **state)
{
    static const char *const names[] = {"auto", "multilevel", "anneal",
                                        "tabu", "refine",     "exact"};
    static const char *const machines[] = {"hierarchy:4:4:3@1:5:20", "magc-b",
                                           "dragonfly.yaml", NULL};
    int answered = 0;

    (void)state;
    for (int i = 0; i < 48; i++) {
        const char *source = machines[i % 4];
        char path[512];
        struct limited in = {0};
        nw_mapping *mapping = NULL, *again = NULL;

        nw_random_init(&in.random, 100 + (uint64_t)i);
        snprintf(path, sizeof path, "%s/topology/valid/%s",
                 getenv("NW_FIXTURES"), source ? source : "");
        init(&in,
             source ? load_topology(strchr(source, '.') ? path : source)
                    : load_matrix(30, &in.random),
             12 + i / 3, false);
        in.options.algorithm = names[i % 6];
        in.options.steps = 3000;
        in.options.objective = source && i % 5 == 0 ? NW_OBJECTIVE_CONGESTION
                                                    : NW_OBJECTIVE_HOP_BYTES;
        in.eased = true;
        find_limits(&in, 12 + i / 3);
        if (!nw_map(in.topology, in.pattern, &in.options, &mapping, NULL)) {
            check(&in, mapping);
            answered++;
            in.options.start = mapping;
            in.options.threads = 2;
            in.options.algorithm = "refine";
            MUST(nw_map(in.topology, in.pattern, &in.options, &again, NULL));
            check(&in, again);
            assert_true(value_of(&in, again) <=
                        value_of(&in, mapping) * (1 + 1e-9));
        }
        nw_mapping_free(mapping);
        nw_mapping_free(again);
        fini(&in);
    }
    assert_true(answered > 40);
}

/* --- GPUs --- */

/* Checks that each of the first ranks has a GPU of its own; a node has
 * eight. */
static void check_gpus(const nw_mapping *mapping, int32_t ranks)
{
    int32_t gpus[64] = {0};

    for (int32_t r = 0; r < ranks; r++) {
        struct nw_ints set = nw_mapping_gpus(mapping, r);

        assert_int_equal(set.count, 1);
        assert_int_equal(gpus[mapping->node[r] * 8 + set.values[0]]++, 0);
    }
}

/* Eight cores of each node are fast, as many as the node has GPUs. */
static void test_gpus_beside_limits(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct limited in = {0};
        nw_mapping *mapping;

        nw_random_init(&in.random, 300 + (uint64_t)i);
        init(&in, load_topology("magc-b"), 40, true);
        in.eased = true;
        in.options.steps = 3000;
        in.options.algorithm = i % 2 ? "auto" : "tabu";
        in.options.objective =
            i % 3 ? NW_OBJECTIVE_CONGESTION : NW_OBJECTIVE_HOP_BYTES;
        for (int32_t q = 0; q < 160; q++)
            in.speed[q] = q % 20 < 12 ? 0 : in.speed[q];
        find_limits(&in, 40);
        MUST(nw_map(in.topology, in.pattern, &in.options, &mapping, NULL));
        check(&in, mapping);
        check_gpus(mapping, 40);
        nw_mapping_free(mapping);
        fini(&in);
    }
}

/* Ranks in order keep the limits here: this assignment is also considered if
 * there are GPUs, and only then. */
static void test_gpus_where_order_keeps_limits(void **state)
{
    static const char *const names[] = {"auto",   "multilevel", "refine",
                                        "anneal", "tabu",       "block"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct limited in = {0};
        nw_mapping *mapping;

        nw_random_init(&in.random, 700 + (uint64_t)i);
        init(&in, load_topology("magc-b"), 40, true);
        in.options.steps = 2000;
        in.options.algorithm = names[i];
        in.options.objective = NW_OBJECTIVE_HOP_BYTES;
        for (int32_t r = 0; r < 40; r++)
            in.weight[r] = 1;
        for (int32_t q = 0; q < 160; q++)
            in.speed[q] = q % 20 < 5 ? 0 : 1;
        find_limits(&in, 40);
        MUST(nw_map(in.topology, in.pattern, &in.options, &mapping, NULL));
        check(&in, mapping);
        check_gpus(mapping, 40);
        nw_mapping_free(mapping);
        fini(&in);
    }
}

/* Sixteen of forty ranks use GPUs and communicate only with each other, so that
 * a search that knows only loads would put them on one of three nodes, which
 * has only eight GPUs. */
static nw_pattern *make_crowd(void)
{
    nw_pattern_builder *builder;
    nw_pattern *pattern;

    MUST(nw_pattern_builder_new(40, &builder));
    for (int32_t i = 0; i < 16; i++)
        for (int32_t j = 0; j < 16; j++)
            if (i != j)
                MUST(nw_pattern_builder_add(builder, i, j, NW_KIND_GG, 90, 1));
    for (int32_t i = 16; i < 40; i++)
        MUST(nw_pattern_builder_add(builder, i, 16 + (i - 15) % 24, NW_KIND_HH,
                                    1, 1));
    MUST(nw_pattern_builder_build(builder, &pattern));
    nw_pattern_builder_free(builder);
    return pattern;
}

static void test_ranks_go_where_gpus_are(void **state)
{
    static const int32_t hosts[3] = {0, 1, 2};

    (void)state;
    for (int i = 0; i < 6; i++) {
        struct limited in = {0};
        nw_mapping *mapping;

        nw_random_init(&in.random, 500 + (uint64_t)i);
        init(&in, load_topology("magc-b"), 40, true);
        nw_pattern_free(in.pattern);
        in.pattern = make_crowd();
        in.eased = true;
        in.options.algorithm = "refine";
        in.options.hosts = hosts;
        in.options.host_count = 3;
        for (int32_t q = 60; q < 160; q++)
            in.speed[q] = 0;
        find_limits(&in, 40);
        MUST(nw_map(in.topology, in.pattern, &in.options, &mapping, NULL));
        check(&in, mapping);
        check_gpus(mapping, 16);
        nw_mapping_free(mapping);
        fini(&in);
    }
}

/* If no limit has an effect, the result is the one without limits. */
static void test_loose_limits_are_none(void **state)
{
    struct limited in = {0};
    nw_mapping *with, *without;

    (void)state;
    nw_random_init(&in.random, 5);
    init(&in, load_topology("magc-b"), 40, true);
    in.options.speeds = NULL;
    in.options.imbalance = 20;
    MUST(nw_map(in.topology, in.pattern, &in.options, &with, NULL));
    in.options.capacity = 0;
    in.options.imbalance = -1;
    MUST(nw_map(in.topology, in.pattern, &in.options, &without, NULL));
    assert_memory_equal(with->core, without->core, 40 * sizeof *with->core);
    assert_memory_equal(with->gpu, without->gpu, 40 * sizeof *with->gpu);
    nw_mapping_free(with);
    nw_mapping_free(without);
    fini(&in);
}

/* A given mapping that exceeds the limits is reported. */
static void test_given_beyond_limits(void **state)
{
    static const double speeds[4] = {1, 1, 1, 4};
    static const uint64_t weights[2] = {4, 1};
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    struct nw_random random;
    nw_topology *topology = load_topology("hierarchy:2:2@1:10");
    nw_mapping *start, *mapping;
    nw_pattern *pattern;

    (void)state;
    nw_random_init(&random, 1);
    pattern = make_pattern(2, false, &random);
    MUST(nw_map_default(topology, pattern, &options, &start));
    options.capacity = 1;
    options.imbalance = 0.5;
    options.weights = weights;
    options.speeds = speeds;
    options.algorithm = "refine";
    options.start = start;
    assert_int_equal(nw_map(topology, pattern, &options, &mapping, NULL),
                     NW_EINVAL);
    assert_non_null(strstr(nw_error_text(), "rank 0"));
    options.start = NULL;
    MUST(nw_map(topology, pattern, &options, &mapping, NULL));
    assert_int_equal(mapping->core[0], 3);
    nw_mapping_free(mapping);
    nw_mapping_free(start);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_ones_are_optimal),
        cmocka_unit_test(test_all_keep_limits),
        cmocka_unit_test(test_gpus_beside_limits),
        cmocka_unit_test(test_gpus_where_order_keeps_limits),
        cmocka_unit_test(test_ranks_go_where_gpus_are),
        cmocka_unit_test(test_loose_limits_are_none),
        cmocka_unit_test(test_given_beyond_limits),
    };

    return cmocka_run_group_tests_name("many_single", tests, NULL, NULL);
}

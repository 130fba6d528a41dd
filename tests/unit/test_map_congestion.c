/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of searches that change a complete assignment: the change by a move is
 * that of the costs computed from scratch, assignments stay valid, and those of
 * small cases are optimal. */
#include <nodewise/map.h>

#include "base/random.h"
#include "map/congestion/objectives.h"
#include "map/common/budget.h"
#include "map/congestion/node_swaps.h"
#include "map/congestion/link_loads.h"
#include "map/congestion/slots.h"
#include "topology/topology.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MUST(call) assert_int_equal(call, NW_OK)

static void assert_near(double a, double b)
{
    if (fabs(a - b) > 1e-9 * (1e-9 + fabs(b)))
        fail_msg("%.12g is not %.12g", a, b);
}

/* A random pattern with edges of any kind if the machine has GPUs, and with
 * some edges from a rank to itself. */
static nw_pattern *random_pattern(int32_t ranks, int kinds, uint64_t seed)
{
    struct nw_random random;
    nw_pattern_builder *builder;
    nw_pattern *pattern;

    nw_random_init(&random, seed);
    MUST(nw_pattern_builder_new(ranks, &builder));
    for (int32_t e = 0; e < 4 * ranks; e++) {
        uint64_t n = (uint64_t)ranks;

        MUST(nw_pattern_builder_add(
            builder, (int32_t)nw_random_below(&random, n),
            (int32_t)nw_random_below(&random, n),
            (enum nw_kind)nw_random_below(&random, (uint64_t)kinds),
            2 * nw_random_below(&random, 2500), /* for two cards */
            nw_random_below(&random, 9)));
    }
    MUST(nw_pattern_builder_build(builder, &pattern));
    nw_pattern_builder_free(builder);
    return pattern;
}

static nw_topology *load(const char *source)
{
    nw_topology *topology;

    MUST(nw_topology_load(source, NULL, &topology));
    return topology;
}

static void compare(struct nw_link_loads *loads,
                    const struct nw_problem *problem, struct nw_answer *answer)
{
    nw_mapping *mapping;
    struct nw_cost cost;

    nw_slots_to_answer(loads->slots, answer);
    MUST(nw_answer_to_mapping(answer, problem, &mapping));
    MUST(nw_cost_evaluate(problem->topology, problem->pattern, mapping, &cost));
    assert_near(loads->now.hop_bytes, cost.hop_bytes.value);
    assert_near(loads->now.latency, cost.latency);
    assert_near(nw_link_loads_max(loads), cost.max_congestion);
    assert_near(nw_objectives_value(loads, NW_OBJECTIVE_TIME), cost.time);
    nw_cost_fini(&cost);
    nw_mapping_free(mapping);
}

/* The change that is computed without making a move is that of making it. */
static void weigh_and_try(struct nw_link_loads *loads,
                          const struct nw_move *move)
{
    struct nw_load_figures alone;

    nw_link_loads_try_distance(loads, move);
    alone = loads->change;
    assert_int_equal(loads->touch_count, 0);
    nw_link_loads_try(loads, move);
    assert_near(alone.hop_bytes, loads->change.hop_bytes);
    assert_near(alone.latency, loads->change.latency);
}

/* Makes random moves and undoes some; compares the costs after every few
 * moves. */
static void walk(const char *source, int32_t ranks, int kinds, uint64_t seed)
{
    nw_topology *topology = load(source);
    nw_pattern *pattern = random_pattern(ranks, kinds, seed);
    struct nw_problem problem;
    struct nw_answer answer;
    struct nw_slots slots;
    struct nw_link_loads loads;
    struct nw_random random;

    nw_random_init(&random, seed);
    MUST(nw_problem_init(&problem, topology, pattern, NULL));
    MUST(nw_answer_init(&answer, ranks));
    MUST(nw_answer_default(&problem, &answer));
    MUST(nw_slots_init(&slots, &problem, &answer));
    MUST(nw_link_loads_init(&loads, &slots,
                            (struct nw_link_loads_wants){true, true, true}));
    compare(&loads, &problem, &answer);
    for (int i = 0; i < 300; i++) {
        bool keep = nw_random_below(&random, 3) != 0;
        struct nw_move move;

        nw_slots_draw_move(&slots, &random,
                           (int32_t)nw_random_below(&random, (uint64_t)ranks),
                           &move);
        if (!move.count)
            continue;
        weigh_and_try(&loads, &move);
        nw_link_loads_end(&loads, keep);
        if (keep)
            nw_slots_apply(&slots, &move);
        if (i % 20 == 0)
            compare(&loads, &problem, &answer);
    }
    compare(&loads, &problem, &answer);
    nw_link_loads_fini(&loads);
    nw_slots_fini(&slots);
    nw_answer_fini(&answer);
    nw_problem_fini(&problem);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

static void test_moves_are_costs(void **state)
{
    char path[512];

    (void)state;
    /* each GPU of these nodes has two network cards */
    snprintf(path, sizeof path, "%s/topology/valid/two_cards.yaml",
             getenv("NW_FIXTURES"));
    for (uint64_t seed = 1; seed <= 6; seed++) {
        walk("magc-a", 40 + (int32_t)seed, NW_KIND_COUNT, seed);
        walk("magc-b", 20, NW_KIND_COUNT, seed);
        walk(path, 12, NW_KIND_COUNT, seed);
        walk("magc-a", 60, 1, seed);
        walk("hierarchy:3:2:4@1:5:20", 20, 1, seed);
    }
}

static double objective_of(const nw_topology *topology,
                           const nw_pattern *pattern, const nw_mapping *mapping,
                           enum nw_objective objective)
{
    struct nw_cost cost;
    double value;

    MUST(nw_cost_evaluate(topology, pattern, mapping, &cost));
    value = nw_cost_objective(&cost, objective);
    nw_cost_fini(&cost);
    return value;
}

static double value_of(const nw_topology *topology, const nw_pattern *pattern,
                       const struct nw_map_options *options)
{
    nw_mapping *mapping;
    double value;

    MUST(nw_map(topology, pattern, options, &mapping, NULL));
    value = objective_of(topology, pattern, mapping, options->objective);
    nw_mapping_free(mapping);
    return value;
}

/* Runs refine, anneal and auto by name, with each objective. The result is
 * never worse than the default, and it is the same on one thread and on three.
 * The result of refine is at least as good as the mapping from which refine
 * began. */
static void test_never_worse(void **state)
{
    static const char *const names[] = {"refine", "anneal", "auto"};

    (void)state;
    for (int objective = 0; objective < NW_OBJECTIVE_COUNT; objective++)
        for (int i = 0; i < 3; i++) {
            struct nw_map_options options = NW_MAP_OPTIONS_INIT;
            nw_topology *topology = load("magc-a");
            nw_pattern *pattern = random_pattern(24, NW_KIND_COUNT, 5);
            nw_mapping *standard;
            double value, before;

            options.objective = (enum nw_objective)objective;
            options.algorithm = names[i];
            options.steps = 4000;
            MUST(nw_map_default(topology, pattern, &options, &standard));
            before =
                objective_of(topology, pattern, standard, options.objective);
            value = value_of(topology, pattern, &options);
            assert_true(value <= before * (1 + 1e-9));
            options.threads = 3;
            assert_near(value_of(topology, pattern, &options), value);
            options.start = standard;
            options.algorithm = "refine";
            assert_true(value_of(topology, pattern, &options) <=
                        before * (1 + 1e-9));
            nw_mapping_free(standard);
            nw_pattern_free(pattern);
            nw_topology_free(topology);
        }
}

static void try_all(const nw_topology *topology, const nw_pattern *pattern,
                    nw_mapping *mapping, enum nw_objective objective,
                    double *best, int32_t rank)
{
    int32_t n = nw_topology_element_count(topology);

    if (rank == pattern->rank_count) {
        *best =
            fmin(*best, objective_of(topology, pattern, mapping, objective));
        return;
    }
    for (int32_t e = 0; e < n; e++) {
        bool taken = false;

        for (int32_t r = 0; r < rank; r++)
            taken |= mapping->core[r] == e;
        mapping->node[rank] = 0;
        mapping->core[rank] = e;
        if (!taken)
            try_all(topology, pattern, mapping, objective, best, rank + 1);
    }
}

/* Five ranks on six elements, against all assignments. */
static void test_small_optima(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3; seed++)
        for (int i = 0; i < NW_OBJECTIVE_COUNT; i++) {
            struct nw_map_options options = NW_MAP_OPTIONS_INIT;
            struct nw_map_report report;
            nw_topology *topology = load("hierarchy:3:2@2:7");
            nw_pattern *pattern = random_pattern(5, 1, seed);
            nw_mapping *mapping;
            double best = INFINITY;

            options.objective = (enum nw_objective)i;
            MUST(nw_map(topology, pattern, &options, &mapping, &report));
            assert_true(report.proven);
            try_all(topology, pattern, mapping, options.objective, &best, 0);
            assert_near(value_of(topology, pattern, &options), best);
            nw_mapping_free(mapping);
            nw_pattern_free(pattern);
            nw_topology_free(topology);
        }
}

/* A matrix with a diagonal and ranks that send to themselves, against all
 * assignments. */
static void test_self_edges(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct nw_map_options options = NW_MAP_OPTIONS_INIT;
        nw_pattern *pattern = random_pattern(5, 1, seed);
        struct nw_random random;
        nw_topology *topology;
        double distances[36], best = INFINITY;
        nw_mapping *mapping;

        nw_random_init(&random, seed);
        for (int i = 0; i < 36; i++)
            distances[i] = (double)nw_random_below(&random, 9);
        MUST(nw_topology_from_distances("m", distances, 6, &topology));
        MUST(nw_map(topology, pattern, &options, &mapping, NULL));
        try_all(topology, pattern, mapping, NW_OBJECTIVE_HOP_BYTES, &best, 0);
        assert_near(value_of(topology, pattern, &options), best);
        options.algorithm = "refine";
        assert_near(value_of(topology, pattern, &options), best);
        nw_mapping_free(mapping);
        nw_pattern_free(pattern);
        nw_topology_free(topology);
    }
}

/* The second objective falls without a rise of the first one. */
static void test_second_objective(void **state)
{
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    nw_topology *topology = load("magc-a");
    nw_pattern *pattern = random_pattern(24, 1, 9);
    nw_mapping *alone, *pair;

    (void)state;
    options.objective = NW_OBJECTIVE_CONGESTION;
    options.algorithm = "anneal";
    options.has_second = true;
    options.second = NW_OBJECTIVE_LATENCY;
    MUST(nw_map(topology, pattern, &options, &alone, NULL));
    options.algorithm = "refine";
    options.start = alone;
    MUST(nw_map(topology, pattern, &options, &pair, NULL));
    assert_true(objective_of(topology, pattern, pair, options.objective) <=
                objective_of(topology, pattern, alone, options.objective) *
                    (1 + 1e-9));
    nw_mapping_free(alone);
    nw_mapping_free(pair);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

struct promise {
    struct nw_progress progress; /* first: the callback gets its address */
    int updates;                 /* the search is interrupted after so many
                                    reports */
    double seconds;              /* the last reported value in seconds; 0:
                                    none yet */
};

static void hear_promise(struct nw_progress *progress, uint64_t done,
                         uint64_t total, const char *what)
{
    struct promise *promise = (struct promise *)progress;
    char unit[3];

    (void)done;
    (void)total;
    if (strncmp(what, "best so far", 11))
        return;
    assert_int_equal(sscanf(what, "best so far: time %lf %2s (Ctrl-C keeps",
                            &promise->seconds, unit),
                     2);
    assert_true(!strcmp(unit, "ms") || !strcmp(unit, "us"));
    promise->seconds *= *unit == 'm' ? 1e-3 : 1e-6;
    if (!--promise->updates)
        progress->cancelled = 1;
}

/* After Ctrl-C, the result is as good as the last value that progress reported,
 * or better. The report has three digits, which are within 0.5 %. */
static void test_progress_keeps_its_promise(void **state)
{
    static const int updates[] = {1, 40, 1000};
    nw_topology *topology = load("magc-a");
    nw_pattern *pattern = random_pattern(48, 1, 4);

    (void)state;
    for (size_t i = 0; i < sizeof updates / sizeof *updates; i++) {
        struct promise promise = {.progress.update = hear_promise,
                                  .updates = updates[i]};
        struct nw_map_options options = NW_MAP_OPTIONS_INIT;
        nw_mapping *mapping;

        options.objective = NW_OBJECTIVE_TIME;
        options.progress = &promise.progress;
        MUST(nw_map(topology, pattern, &options, &mapping, NULL));
        assert_true(promise.seconds > 0);
        assert_true(objective_of(topology, pattern, mapping,
                                 options.objective) <= promise.seconds * 1.005);
        nw_mapping_free(mapping);
    }
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

static void test_refused(void **state)
{
    static const double plain[] = {0, 1, 2, 3, 0, 1, 1, 1, 0};
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    nw_pattern *pattern = random_pattern(3, 1, 1);
    nw_topology *topology;
    nw_mapping *mapping;

    (void)state;
    MUST(nw_topology_from_distances("m", plain, 3, &topology));
    options.objective = NW_OBJECTIVE_TIME;
    assert_int_equal(nw_map(topology, pattern, &options, &mapping, NULL),
                     NW_EINVAL);
    options.objective = NW_OBJECTIVE_HOP_BYTES;
    options.algorithm = "exact";
    MUST(nw_map(topology, pattern, &options, &mapping, NULL));
    nw_mapping_free(mapping);
    nw_topology_free(topology);
    topology = load("magc-a");
    options.objective = NW_OBJECTIVE_CONGESTION;
    nw_pattern_free(pattern);
    pattern = random_pattern(65, 1, 1);
    options.algorithm = "exact";
    assert_int_equal(nw_map(topology, pattern, &options, &mapping, NULL),
                     NW_EUNSUPPORTED);
    nw_topology_free(topology);
    nw_pattern_free(pattern);
}

/* Problems that cannot be expressed as matrices are solved by annealing under
 * the name tabu. */
static void test_tabu_knows_everything(void **state)
{
    static const char *const names[] = {"tabu", "anneal"};
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    nw_topology *topology = load("magc-a");
    nw_pattern *pattern = random_pattern(24, 3, 1);
    nw_mapping *mapping[2];

    (void)state;
    options.gpus_per_rank = 1;
    options.objective = NW_OBJECTIVE_CONGESTION;
    options.steps = 2000;
    for (int i = 0; i < 2; i++) {
        options.algorithm = names[i];
        MUST(nw_map(topology, pattern, &options, &mapping[i], NULL));
    }
    for (int32_t r = 0; r < 24; r++)
        assert_true(mapping[0]->core[r] == mapping[1]->core[r] &&
                    mapping[0]->gpu[r] == mapping[1]->gpu[r]);
    nw_mapping_free(mapping[0]);
    nw_mapping_free(mapping[1]);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

/* Every kind of search makes exactly the given number of steps, on any number
 * of threads. */
static void test_steps_are_exact(void **state)
{
    static const char *const names[] = {"exact", "anneal", "tabu", "refine",
                                        "auto"};

    (void)state;
    for (int i = 0; i < 5; i++) {
        struct nw_map_options options = NW_MAP_OPTIONS_INIT;
        nw_topology *topology = load("rashti-32");
        nw_pattern *pattern = random_pattern(30, 1, 4);
        struct nw_map_report report;
        double value = 0;

        options.algorithm = names[i];
        options.steps = 7777;
        for (options.threads = 1; options.threads < 4; options.threads++) {
            nw_mapping *mapping;
            double again;

            MUST(nw_map(topology, pattern, &options, &mapping, &report));
            assert_int_equal(report.steps, options.steps);
            again = objective_of(topology, pattern, mapping, options.objective);
            assert_true(options.threads == 1 || again == value);
            value = again;
            nw_mapping_free(mapping);
        }
        nw_pattern_free(pattern);
        nw_topology_free(topology);
    }
}

/* --- whole nodes --- */

#define TORUS "/topology/valid/torus.yaml"
#define NODES 24
#define CORES 4

static double distance_of(const nw_topology *topology, int32_t e, int32_t f)
{
    return nw_topology_distance(topology, nw_topology_element_end(topology, e),
                                nw_topology_element_end(topology, f));
}

/* The least distance between nodes, which is that of the first two. */
static double least_way(const nw_topology *topology)
{
    return distance_of(topology, 0, CORES);
}

/* A pattern in which each rank of a node sends to the ranks with the same place
 * on the neighbouring nodes; node i has the ranks of group name[i]. */
static nw_pattern *neighbours(const nw_topology *topology, const int32_t *name)
{
    nw_pattern_builder *builder;
    nw_pattern *pattern;

    MUST(nw_pattern_builder_new(NODES * CORES, &builder));
    for (int32_t e = 0; e < NODES * CORES; e++)
        for (int32_t f = e % CORES; f < NODES * CORES; f += CORES) {
            size_t group = (size_t)(e / CORES), other = (size_t)(f / CORES);

            if (distance_of(topology, e, f) == least_way(topology))
                MUST(nw_pattern_builder_add(
                    builder, name[group] * CORES + e % CORES,
                    name[other] * CORES + f % CORES, NW_KIND_HH, 100, 1));
        }
    MUST(nw_pattern_builder_build(builder, &pattern));
    nw_pattern_builder_free(builder);
    return pattern;
}

struct lowering {
    enum nw_objective objective;
    bool settles; /* anneals single ranks within limits; otherwise whole
                     nodes are exchanged */
    /* For `settles`: the limits of the hop-bytes and of the congestion, as
     * factors of the values before; 0 and 0 if they may not rise. */
    double hop_bytes, most;
};

static void settle(struct nw_slots *slots, struct nw_objectives *objectives,
                   const struct lowering *lowering, const double figure[2])
{
    objectives->settle_at = lowering->most * figure[0];
    objectives->hop_limit = lowering->hop_bytes * figure[1];
    MUST(nw_slots_anneal(slots, objectives, NW_SEARCH_CAP_SECOND));
}

/* Lowers the objective, beginning with ranks in order; figure[0] and figure[1]
 * become the values of the objective and the hop-bytes before and after. */
static void lower(const nw_topology *topology, const nw_pattern *pattern,
                  struct lowering lowering, double figure[2][2])
{
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    struct nw_problem problem;
    struct nw_answer answer;
    struct nw_slots slots;
    struct nw_link_loads loads;
    struct nw_budget budget;
    struct nw_objectives objectives;

    options.objective = lowering.objective;
    MUST(nw_problem_init(&problem, topology, pattern, &options));
    nw_budget_init(&budget, &problem.options);
    problem.budget = &budget;
    MUST(nw_answer_init(&answer, pattern->rank_count));
    MUST(nw_answer_default(&problem, &answer));
    MUST(nw_slots_init(&slots, &problem, &answer));
    MUST(nw_link_loads_init(&loads, &slots,
                            (struct nw_link_loads_wants){true, true, true}));
    objectives = nw_objectives_from_options(&problem);
    figure[0][0] = nw_objectives_value(&loads, lowering.objective);
    figure[0][1] = loads.now.hop_bytes;
    if (lowering.settles)
        settle(&slots, &objectives, &lowering, figure[0]);
    else
        MUST(nw_node_swaps(&slots, &objectives, NW_SEARCH_FULL));
    nw_link_loads_recount(&loads);
    compare(&loads, &problem, &answer);
    figure[1][0] = nw_objectives_value(&loads, lowering.objective);
    figure[1][1] = loads.now.hop_bytes;
    assert_true(figure[1][0] <=
                fmax(1, lowering.most) * figure[0][0] * (1 + 1e-9));
    nw_link_loads_fini(&loads);
    nw_slots_fini(&slots);
    nw_answer_fini(&answer);
    nw_problem_fini(&problem);
}

static double exchange(const nw_topology *topology, const nw_pattern *pattern,
                       enum nw_objective objective)
{
    double figure[2][2];

    lower(topology, pattern, (struct lowering){objective, false}, figure);
    return figure[1][0];
}

/* Groups of ranks that are scattered over a torus become neighbours again. */
static void test_nodes_find_back(void **state)
{
    char path[4096];
    nw_topology *topology;
    int32_t order[NODES], shuffled[NODES];
    nw_pattern *pattern[2];
    double figure[2][2], less;

    (void)state;
    snprintf(path, sizeof path, "%s" TORUS, getenv("NW_FIXTURES"));
    topology = load(path);
    for (int32_t i = 0; i < NODES; i++) {
        order[i] = i;
        shuffled[i] = 7 * i % NODES; /* 7 and 24 have no common factor */
    }
    pattern[0] = neighbours(topology, order);
    pattern[1] = neighbours(topology, shuffled);
    assert_true(pattern[0]->row[NODES * CORES] > 0);
    assert_near(exchange(topology, pattern[0], NW_OBJECTIVE_HOP_BYTES),
                100 * least_way(topology) *
                    (double)pattern[0]->row[NODES * CORES]);
    assert_near(exchange(topology, pattern[1], NW_OBJECTIVE_HOP_BYTES),
                100 * least_way(topology) *
                    (double)pattern[1]->row[NODES * CORES]);
    exchange(topology, pattern[1], NW_OBJECTIVE_CONGESTION);
    exchange(topology, pattern[1], NW_OBJECTIVE_TIME);
    lower(topology, pattern[1],
          (struct lowering){NW_OBJECTIVE_CONGESTION, true}, figure);
    assert_true(figure[1][1] < 0.9 * figure[0][1]);
    less = 0.98 * figure[1][1] / figure[0][1];
    lower(topology, pattern[1],
          (struct lowering){NW_OBJECTIVE_CONGESTION, true, less, 1.5}, figure);
    assert_true(figure[1][1] <= less * figure[0][1]);
    nw_pattern_free(pattern[0]);
    nw_pattern_free(pattern[1]);
    nw_topology_free(topology);
}

/* The costs of moves are right for nodes with GPUs and several cards, some of
 * which are empty. */
static void test_nodes_keep_costs(void **state)
{
    static const char *const machines[] = {"magc-a", "magc-b"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        nw_topology *topology = load(machines[i]);
        nw_pattern *pattern = random_pattern(30, NW_KIND_COUNT, 5);

        exchange(topology, pattern, NW_OBJECTIVE_CONGESTION);
        exchange(topology, pattern, NW_OBJECTIVE_LATENCY);
        nw_pattern_free(pattern);
        nw_topology_free(topology);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves_are_costs),
        cmocka_unit_test(test_nodes_find_back),
        cmocka_unit_test(test_nodes_keep_costs),
        cmocka_unit_test(test_never_worse),
        cmocka_unit_test(test_small_optima),
        cmocka_unit_test(test_self_edges),
        cmocka_unit_test(test_second_objective),
        cmocka_unit_test(test_progress_keeps_its_promise),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_tabu_knows_everything),
        cmocka_unit_test(test_steps_are_exact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

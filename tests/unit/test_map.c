/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the default mapping and the simple algorithms against placements
 * worked out by hand, and of every algorithm against the properties of any
 * valid mapping. */
#include <nodewise/map.h>

#include "support/machine.h"
#include "support/share.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static nw_mapping *map_with(const nw_topology *topology,
                            const nw_pattern *pattern,
                            struct nw_map_options options)
{
    nw_mapping *mapping = NULL;

    if (nw_map(topology, pattern, &options, &mapping, NULL))
        fail_msg("%s", nw_error_text());
    return mapping;
}

/* 2 nodes of 2 packages of 2 cores, with 4 GPUs per node; 6 ranks with a GPU
 * layer. Ranks 0-3 are on n00 and alternate between the packages: cores 0 2 1
 * 3, each with a GPU of its package: 0 2 1 3. Ranks 4 and 5 are on n01, cores 0
 * 2. */
static void test_default_alternates(void **state)
{
    nw_topology *topology = machine_new((struct shape){2, 2, 2, 1, 2, false});
    struct nw_random random;
    nw_pattern *pattern;
    nw_mapping *mapping;
    const int32_t node[] = {0, 0, 0, 0, 1, 1}, core[] = {0, 2, 1, 3, 0, 2};
    const int32_t gpu[] = {0, 2, 1, 3, 0, 2};

    (void)state;
    nw_random_init(&random, 1);
    pattern = random_pattern(&random, 6, 40, 3);
    MUST(nw_map_default(topology, pattern, NULL, &mapping));
    for (int r = 0; r < 6; r++) {
        assert_int_equal(mapping->node[r], node[r]);
        assert_int_equal(mapping->core[r], core[r]);
        assert_int_equal(mapping->gpu[r], gpu[r]);
    }
    nw_mapping_free(mapping);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

/* The manual page says "as many on a node as its GPUs where the pattern has a
 * GPU layer, else as its cores": here 3 cores and 1 GPU per node. */
static void test_default_fills_by_gpus_or_cores(void **state)
{
    nw_topology *topology = machine_new((struct shape){4, 1, 3, 1, 1, false});
    struct nw_random random;
    nw_mapping *mapping;

    (void)state;
    nw_random_init(&random, 1);
    for (unsigned gpu = 0; gpu < 2; gpu++) {
        nw_pattern *pattern = random_pattern(&random, 4, 60, gpu ? 2 : 1);

        MUST(nw_map_default(topology, pattern, NULL, &mapping));
        assert_int_equal(mapping->node[1], gpu ? 1 : 0);
        assert_int_equal(mapping->node[3], gpu ? 3 : 1);
        assert_int_equal(mapping->gpu[3], gpu ? 0 : -1);
        nw_mapping_free(mapping);
        nw_pattern_free(pattern);
    }
    nw_topology_free(topology);
}

static void test_hierarchy_is_identity(void **state)
{
    nw_topology *topology;
    struct nw_random random;
    nw_pattern *pattern;
    nw_mapping *mapping;

    (void)state;
    MUST(nw_topology_load("hierarchy:4:8@1:10", NULL, &topology));
    nw_random_init(&random, 1);
    pattern = random_pattern(&random, 20, 60, 1);
    MUST(nw_map_default(topology, pattern, NULL, &mapping));
    for (int r = 0; r < 20; r++)
        assert_int_equal(mapping->core[r], r);
    nw_mapping_free(mapping);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

static void test_cyclic_takes_nodes_in_turn(void **state)
{
    nw_topology *topology = machine_new((struct shape){3, 1, 2, 0, 0, false});
    struct nw_random random;
    nw_pattern *pattern;
    nw_mapping *mapping;
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    const int32_t node[] = {0, 1, 2, 0, 1}, core[] = {0, 0, 0, 1, 1};

    (void)state;
    nw_random_init(&random, 1);
    pattern = random_pattern(&random, 5, 60, 1);
    options.algorithm = "cyclic";
    mapping = map_with(topology, pattern, options);
    for (int r = 0; r < 5; r++) {
        assert_int_equal(mapping->node[r], node[r]);
        assert_int_equal(mapping->core[r], core[r]);
    }
    nw_mapping_free(mapping);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

/* --- properties of any valid mapping --- */

struct trial {
    nw_topology *topology;
    nw_pattern *pattern;
    struct nw_map_options options;
    nw_mapping *fixed;
};

/* Checks that no core is used twice, that no GPU has more ranks than it may
 * have, and that GPUs are on the rank's own node. */
static void assert_valid(const struct trial *trial, const nw_mapping *mapping)
{
    const nw_topology *topology = trial->topology;
    int32_t cores = nw_topology_element_count(topology);
    int32_t gpus = nw_topology_gpu_count(topology);
    int *used = calloc((size_t)(cores + gpus), sizeof *used);
    int32_t share = trial->options.ranks_per_gpu;

    for (int32_t r = 0; r < mapping->rank_count; r++) {
        struct nw_ints core = nw_mapping_cores(mapping, r);
        struct nw_ints gpu = nw_mapping_gpus(mapping, r);
        struct nw_range range =
            nw_topology_node_elements(topology, mapping->node[r]);

        assert_true(core.count >= 1);
        for (size_t i = 0; i < core.count; i++) {
            assert_in_range(core.values[i], 0, range.count - 1);
            assert_int_equal(used[range.first + core.values[i]]++, 0);
        }
        if (!mapping->gpu_node)
            range = nw_topology_node_gpus(topology, mapping->node[r]);
        else
            range = nw_topology_node_gpus(topology, mapping->gpu_node[r]);
        for (size_t i = 0; i < gpu.count; i++) {
            assert_in_range(gpu.values[i], 0, range.count - 1);
            used[cores + range.first + gpu.values[i]]++;
            assert_true(used[cores + range.first + gpu.values[i]] <=
                        (share ? share : 1));
        }
    }
    free(used);
}

static void assert_fixed_kept(const struct trial *trial,
                              const nw_mapping *mapping)
{
    const nw_mapping *fixed = trial->options.fixed;

    for (int32_t r = 0; fixed && r < fixed->rank_count; r++) {
        if (fixed->node[r] >= 0)
            assert_int_equal(mapping->node[r], fixed->node[r]);
        if (fixed->node[r] >= 0 && fixed->core[r] >= 0)
            assert_int_equal(mapping->core[r], fixed->core[r]);
        if (fixed->node[r] >= 0 && fixed->gpu[r] >= 0)
            assert_int_equal(mapping->gpu[r], fixed->gpu[r]);
    }
}

static double figure_of(const struct trial *trial, const nw_mapping *mapping)
{
    struct nw_cost cost;
    double figure;

    MUST(nw_cost_evaluate(trial->topology, trial->pattern, mapping, &cost));
    figure = nw_cost_objective(&cost, trial->options.objective);
    nw_cost_fini(&cost);
    return figure;
}

static bool is_baseline(const char *name)
{
    static const char *const names[] = {"cyclic",      "random",
                                        "strategy1",   "strategy2",
                                        "independent", "independent-remap"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

static void check_algorithm(struct trial *trial, const char *name)
{
    nw_mapping *mapping, *again, *standard;

    trial->options.algorithm = name;
    trial->options.steps = 2000;
    if (nw_map(trial->topology, trial->pattern, &trial->options, &mapping,
               NULL) == NW_EUNSUPPORTED)
        return; /* the algorithm does not support this size, shape or
                   objective */
    nw_mapping_free(mapping);
    mapping = map_with(trial->topology, trial->pattern, trial->options);
    again = map_with(trial->topology, trial->pattern, trial->options);
    MUST(nw_map_default(trial->topology, trial->pattern, &trial->options,
                        &standard));
    assert_valid(trial, mapping);
    assert_fixed_kept(trial, mapping);
    if (!is_baseline(name))
        assert_true(figure_of(trial, mapping) <=
                    figure_of(trial, standard) * (1 + 1e-9));
    for (int32_t r = 0; r < mapping->rank_count; r++) {
        assert_int_equal(mapping->node[r], again->node[r]);
        assert_int_equal(nw_mapping_cores(mapping, r).values[0],
                         nw_mapping_cores(again, r).values[0]);
    }
    nw_mapping_free(mapping);
    nw_mapping_free(again);
    nw_mapping_free(standard);
}

static int dice(struct nw_random *random, int low, int high)
{
    return low + (int)nw_random_below(random, (uint64_t)(high - low + 1));
}

/* A mapping that fixes some ranks as in the default mapping, each with a random
 * part of its place left open. */
static nw_mapping *random_fixed(struct nw_random *random,
                                const struct trial *trial)
{
    nw_mapping *fixed;

    MUST(nw_map_default(trial->topology, trial->pattern, &trial->options,
                        &fixed));
    for (int32_t r = 0; r < fixed->rank_count; r++) {
        int open = dice(random, 0, 7);

        if (fixed->gpu[r] == -1)
            fixed->gpu[r] = -2;
        if (open > 2)
            fixed->node[r] = -1;
        if (open > 1)
            fixed->core[r] = -1;
        if (open > 0)
            fixed->gpu[r] = -2;
    }
    return fixed;
}

static void begin_trial(struct trial *trial, uint64_t seed)
{
    struct nw_random random;
    struct shape shape;
    int room, ranks;
    bool gpus;

    nw_random_init(&random, seed);
    shape = (struct shape){dice(&random, 1, 5), dice(&random, 1, 3),
                           dice(&random, 1, 4), dice(&random, 0, 2),
                           dice(&random, 1, 3), dice(&random, 0, 1)};
    trial->options = (struct nw_map_options)NW_MAP_OPTIONS_INIT;
    trial->options.seed = seed;
    trial->options.objective = (enum nw_objective)dice(&random, 0, 2);
    trial->options.affinity = dice(&random, 0, 3) ? 0 : 0.5;
    trial->options.ranks_per_gpu = dice(&random, 1, 2);
    trial->topology = machine_new(shape);
    gpus = shape.switches > 0;
    room = shape.packages * shape.cores;
    if (gpus && shape.packages * shape.switches * shape.gpus < room)
        room = shape.packages * shape.switches * shape.gpus;
    ranks = dice(&random, 1, room * shape.nodes);
    trial->pattern = random_pattern(&random, ranks, ranks * 6, gpus ? 15 : 1);
    trial->fixed = NULL;
    if (dice(&random, 0, 2) == 0)
        trial->fixed = random_fixed(&random, trial);
    trial->options.fixed = trial->fixed;
}

static void end_trial(struct trial *trial)
{
    nw_mapping_free(trial->fixed);
    nw_pattern_free(trial->pattern);
    nw_topology_free(trial->topology);
}

static void test_all_algorithms_keep_their_promises(void **state)
{
    const char *name, *summary;
    int step = share_step(60, "random machines");

    (void)state;
    for (int seed = 1; seed <= 60; seed += step)
        for (size_t i = 0; nw_map_algorithm(i, &name, &summary); i++) {
            struct trial trial;

            begin_trial(&trial, (uint64_t)seed);
            check_algorithm(&trial, name);
            end_trial(&trial);
        }
}

/* --- whole nodes --- */

/* Checks that each node has a block of consecutive ranks, and that the sizes of
 * the blocks are those of the default mapping in some order. */
static void assert_whole(const nw_mapping *mapping)
{
    bool *seen = calloc((size_t)mapping->node_count, sizeof *seen);

    for (int32_t r = 0; r < mapping->rank_count; r++) {
        int32_t node = mapping->node[r];

        if (r && node == mapping->node[r - 1])
            continue;
        assert_false(seen[node]);
        seen[node] = true;
    }
    free(seen);
}

static void check_whole(const struct trial *trial, nw_mapping *standard)
{
    struct nw_map_answer answer;
    enum nw_objective objective = trial->options.objective;
    struct nw_cost cost;

    MUST(nw_map_priced(trial->topology, trial->pattern, &trial->options,
                       &answer));
    MUST(nw_cost_evaluate(trial->topology, trial->pattern, standard, &cost));
    assert_valid(trial, answer.mapping);
    assert_whole(answer.mapping);
    assert_true(nw_cost_objective(&answer.cost, objective) <=
                nw_cost_objective(&cost, objective) * (1 + 1e-9));
    assert_true(nw_cost_objective(&answer.standard, objective) ==
                nw_cost_objective(&cost, objective));
    nw_cost_fini(&cost);
    nw_map_answer_fini(&answer);
}

/* With whole nodes, the result is never worse than the default. If the default
 * does not have whole nodes, because ranks without GPUs fill the gaps, that is
 * an error. */
static void test_whole_nodes_stay_whole(void **state)
{
    int whole = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct trial trial;
        nw_mapping *standard, *mapping = NULL;
        nw_status status;

        begin_trial(&trial, seed);
        trial.options.fixed = NULL;
        trial.options.whole_nodes = true;
        trial.options.effort = NW_EFFORT_FAST;
        MUST(nw_map_default(trial.topology, trial.pattern, &trial.options,
                            &standard));
        status = nw_map(trial.topology, trial.pattern, &trial.options, &mapping,
                        NULL);
        nw_mapping_free(mapping);
        if (status == NW_EINVAL) {
            assert_non_null(strstr(nw_error_text(), "consecutive ranks"));
        } else {
            MUST(status);
            check_whole(&trial, standard);
            whole++;
        }
        nw_mapping_free(standard);
        end_trial(&trial);
    }
    assert_true(whole > 5);
}

/* --- lost nodes --- */

struct lost_trial {
    struct trial trial;
    nw_mapping *old;
    int32_t lost;
    double exchanges;
};

static struct nw_ints lost_named(struct nw_ints set)
{
    if (set.count && set.values[0] < 0)
        set.count = 0;
    return set;
}

static bool lost_is_same(struct nw_ints a, struct nw_ints b)
{
    a = lost_named(a);
    b = lost_named(b);
    return a.count == b.count &&
           (!a.count ||
            !memcmp(a.values, b.values, a.count * sizeof *a.values));
}

/* Returns the number of ranks that have moved; checks that none is on the lost
 * node. */
static int32_t lost_count_moved(const struct lost_trial *at,
                                const nw_mapping *mapping)
{
    int32_t moved = 0;

    for (int32_t r = 0; r < mapping->rank_count; r++) {
        assert_int_not_equal(mapping->node[r], at->lost);
        moved += mapping->node[r] != at->old->node[r] ||
                 !lost_is_same(nw_mapping_cores(mapping, r),
                               nw_mapping_cores(at->old, r)) ||
                 !lost_is_same(nw_mapping_gpus(mapping, r),
                               nw_mapping_gpus(at->old, r));
    }
    return moved;
}

/* The predicted time of the mapping if each move of another rank must gain at
 * least `cost`. */
static double lost_map(struct lost_trial *at, double cost, int32_t *others)
{
    struct nw_map_answer answer;
    double time;
    int32_t moved;

    at->trial.options.move_cost = cost;
    MUST(nw_map_priced(at->trial.topology, at->trial.pattern,
                       &at->trial.options, &answer));
    assert_valid(&at->trial, answer.mapping);
    if (at->trial.options.whole_nodes)
        assert_whole(answer.mapping);
    moved = lost_count_moved(at, answer.mapping);
    assert_int_equal(moved, answer.report.moved);
    *others = moved - answer.report.lost_ranks;
    assert_true(*others >= 0);
    time = answer.cost.time;
    nw_map_answer_fini(&answer);
    return time;
}

/* The predicted time of the mapping if all other ranks are fixed; the search
 * begins with that mapping. */
static double lost_time_fixed(const struct lost_trial *at)
{
    const struct trial *trial = &at->trial;
    struct nw_map_options options = trial->options;
    struct nw_map_answer answer;
    const int32_t hosts = nw_topology_node_count(trial->topology);
    int32_t *host = calloc((size_t)hosts, sizeof *host);
    nw_mapping *fixed;
    double time;

    options.hosts = host;
    for (int32_t h = 0; h < hosts; h++)
        if (h != at->lost)
            host[options.host_count++] = h;
    MUST(nw_mapping_new(trial->topology, at->old->rank_count, &fixed));
    for (int32_t r = 0; r < at->old->rank_count; r++) {
        if (at->old->node[r] == at->lost)
            continue;
        fixed->node[r] = at->old->node[r];
        fixed->core[r] = at->old->core[r];
        fixed->gpu[r] = at->old->gpu[r];
    }
    options.fixed = fixed;
    options.start = NULL;
    options.lost_count = 0;
    MUST(nw_map_priced(trial->topology, trial->pattern, &options, &answer));
    time = answer.cost.time;
    nw_map_answer_fini(&answer);
    nw_mapping_free(fixed);
    free(host);
    return time;
}

/* Checks that moves of other ranks gain at least what they cost. */
static void lost_check_costs(struct lost_trial *at)
{
    int32_t others;
    double placed = lost_map(at, 1e3, &others), time;

    assert_int_equal(others, 0);
    if (at->trial.options.whole_nodes)
        return;
    assert_true(placed <= lost_time_fixed(at) * (1 + 1e-9));
    placed = lost_time_fixed(at);
    for (int percent = 0; percent <= 4; percent += 2) {
        double cost = 0.01 * percent * placed;

        time = lost_map(at, cost / at->exchanges, &others);
        assert_true(placed * (1 + 1e-9) - time >= cost * others * (1 - 1e-9));
    }
    at->trial.options.move_cost = -1;
}

static bool lost_begin(struct lost_trial *at, uint64_t seed)
{
    struct trial *trial = &at->trial;
    nw_mapping *mapping = NULL;
    nw_status status;

    begin_trial(trial, seed);
    trial->options.fixed = NULL;
    trial->options.effort = NW_EFFORT_FAST;
    trial->options.whole_nodes = seed % 2;
    MUST(nw_map_default(trial->topology, trial->pattern, &trial->options,
                        &at->old));
    at->lost = at->old->node[trial->pattern->rank_count / 2];
    at->exchanges = 1;
    for (size_t e = 0; e < trial->pattern->edge_count; e++)
        at->exchanges =
            fmax(at->exchanges, (double)trial->pattern->messages[e]);
    trial->options.start = at->old;
    trial->options.lost = &at->lost;
    trial->options.lost_count = 1;
    status = nw_map(trial->topology, trial->pattern, &trial->options, &mapping,
                    NULL);
    nw_mapping_free(mapping);
    return status == NW_OK;
}

static void test_lost_nodes_move_few_ranks(void **state)
{
    int fitted = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct lost_trial at;

        if (lost_begin(&at, seed)) {
            lost_check_costs(&at);
            fitted++;
        }
        nw_mapping_free(at.old);
        end_trial(&at.trial);
    }
    assert_true(fitted > 10);
}

/* --- tuned parameters --- */

static void check_parameter(const struct nw_map_parameter *at)
{
    size_t length = strlen(at->meaning);
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", getenv("NW_SOURCE"), at->source);
    if (access(path, R_OK))
        fail_msg("%s.%s: no file %s", at->engine, at->name, at->source);
    if (length < 20 || at->meaning[length - 1] != '.')
        fail_msg("%s.%s: '%s' is no sentence", at->engine, at->name,
                 at->meaning);
    assert_true(isfinite(at->value[NW_EFFORT_FAST]));
    assert_true(at->value[NW_EFFORT_FAST] >= 0);
    assert_true(at->value[NW_EFFORT_STRONG] >= 0);
}

static void test_tuned_numbers_are_explained(void **state)
{
    struct nw_map_parameter at, other;
    size_t count = 0;

    (void)state;
    for (; nw_map_parameter_get(count, &at); count++) {
        check_parameter(&at);
        for (size_t i = 0; i < count; i++) {
            assert_true(nw_map_parameter_get(i, &other));
            assert_false(!strcmp(at.engine, other.engine) &&
                         !strcmp(at.name, other.name));
        }
    }
    assert_true(count > 0);
    assert_false(nw_map_parameter_get(count + 1, &at));
}

/* --- the paper's suite on the paper's machines --- */

static double congestion_of(const nw_topology *topology,
                            const nw_pattern *pattern, const char *algorithm)
{
    struct trial trial = {.options = NW_MAP_OPTIONS_INIT};
    nw_mapping *mapping;
    double figure;

    trial.options.algorithm = algorithm;
    trial.options.objective = NW_OBJECTIVE_CONGESTION;
    mapping = map_with(topology, pattern, trial.options);
    trial.topology = (nw_topology *)topology;
    trial.pattern = (nw_pattern *)pattern;
    figure = figure_of(&trial, mapping);
    nw_mapping_free(mapping);
    return figure;
}

/* MAGC is better than the default for each pair of patterns. On mixed pairs, it
 * is at least as good as the paper's strategies 1 and 2. On COL-COL, all
 * traffic can stay inside nodes, and the gain is more than 80 %. */
static void test_magc_improves_every_pair(void **state)
{
    static const char *const machines[] = {"magc-a", "magc-b"};

    (void)state;
    for (int i = 0; i < 36; i++) {
        int host = i / 3 % 3, gpu = i % 3;
        nw_pattern *pattern = suite_pattern(host, gpu, i / 9 % 2 ? 3 : 1);
        nw_topology *topology;
        double before, greedy, magc;

        MUST(nw_topology_load(machines[i / 18], NULL, &topology));
        before = congestion_of(topology, pattern, "default");
        greedy = congestion_of(topology, pattern, "magc-greedy");
        magc = congestion_of(topology, pattern, "magc");
        assert_true(greedy < before && magc < before);
        if (host == 2 && gpu == 2)
            assert_true(greedy < 0.2 * before && magc < 0.2 * before);
        if (host != gpu) {
            double one = congestion_of(topology, pattern, "strategy1");
            double two = congestion_of(topology, pattern, "strategy2");

            assert_true(magc <= one * (1 + 1e-9));
            assert_true(magc <= two * (1 + 1e-9));
        }
        nw_pattern_free(pattern);
        nw_topology_free(topology);
    }
}

/* After a short search, auto is at least as good in hop-bytes and in congestion
 * as MAGC and the algorithms of the paper's comparison that put GPUs on their
 * ranks' nodes. */
static void test_auto_is_at_or_below_magc(void **state)
{
    static const char *const machines[] = {"magc-a", "magc-b"};
    static const char *const others[] = {
        "strategy1", "strategy2", "magc-greedy", "magc", "independent-remap"};

    int step = share_step(72, "of the paper's pairs by auto");

    (void)state;
    for (int i = 0; i < 72; i += step) {
        struct trial trial = {.options = NW_MAP_OPTIONS_INIT};
        nw_mapping *mapping;
        double ours;

        trial.pattern = suite_pattern(i / 3 % 3, i % 3, i / 9 % 2 ? 3 : 1);
        trial.options.objective =
            i < 36 ? NW_OBJECTIVE_HOP_BYTES : NW_OBJECTIVE_CONGESTION;
        MUST(nw_topology_load(machines[i / 18 % 2], NULL, &trial.topology));
        trial.options.steps = 2000;
        mapping = map_with(trial.topology, trial.pattern, trial.options);
        ours = figure_of(&trial, mapping);
        nw_mapping_free(mapping);
        for (size_t k = 0; k < 5; k++) {
            trial.options.algorithm = others[k];
            mapping = map_with(trial.topology, trial.pattern, trial.options);
            assert_true(ours <= figure_of(&trial, mapping) * (1 + 1e-9));
            nw_mapping_free(mapping);
        }
        nw_pattern_free(trial.pattern);
        nw_topology_free(trial.topology);
    }
}

static double hasty_congestion(const nw_topology *topology,
                               const nw_pattern *pattern, uint64_t seed,
                               const char *algorithm, uint64_t *steps)
{
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    struct nw_map_report report;
    nw_mapping *mapping;
    struct nw_cost cost;
    double most;

    options.algorithm = algorithm;
    options.objective = NW_OBJECTIVE_CONGESTION;
    options.effort = NW_EFFORT_FAST;
    options.seed = seed;
    MUST(nw_map(topology, pattern, &options, &mapping, &report));
    MUST(nw_cost_evaluate(topology, pattern, mapping, &cost));
    most = cost.max_congestion;
    *steps = report.steps;
    nw_cost_fini(&cost);
    nw_mapping_free(mapping);
    return most;
}

/* The short search takes about a millisecond for 64 ranks, with two trials per
 * rank. For more ranks it may take enough time to be useful: the congestion
 * falls by at least a tenth. */
static void test_haste_suits_the_size(void **state)
{
    nw_topology *topology = machine_new((struct shape){32, 1, 4, 0, 0, false});
    double ours = 0, begun = 0;
    uint64_t steps;

    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct nw_random random;
        nw_pattern *few, *many;

        nw_random_init(&random, seed);
        few = random_graph(&random, 64, 256);
        many = random_graph(&random, 128, 512);
        begun += hasty_congestion(topology, many, seed, "magc-greedy", &steps);
        ours += hasty_congestion(topology, many, seed, "auto", &steps);
        (void)hasty_congestion(topology, few, seed, "auto", &steps);
        assert_true(steps <= 2 * 64);
        nw_pattern_free(few);
        nw_pattern_free(many);
    }
    assert_true(ours < 0.9 * begun);
    nw_topology_free(topology);
}

/* With a large weight of affinity, the GPU of a rank is below its core's
 * package. */
static void test_affinity_brings_gpu_near(void **state)
{
    nw_topology *topology = machine_new((struct shape){1, 2, 4, 1, 4, false});
    static const char *const ways[] = {"magc-greedy", "partition"};
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    nw_pattern_builder *builder;
    nw_pattern *pattern;
    nw_mapping *mapping;

    (void)state;
    MUST(nw_pattern_builder_new(8, &builder));
    for (int i = 0; i < 8; i += 2) {
        pattern_pair(builder, i, (i + 2) % 8, NW_KIND_HH, 1000);
        pattern_pair(builder, i + 1, (i + 3) % 8, NW_KIND_HH, 1000);
        pattern_pair(builder, i, i + 1, NW_KIND_GG, 10);
    }
    MUST(nw_pattern_builder_build(builder, &pattern));
    nw_pattern_builder_free(builder);
    options.affinity = 1e6;
    options.objective = NW_OBJECTIVE_LATENCY;
    for (int k = 0; k < 2; k++) {
        options.algorithm = "random"; /* a baseline, which is returned
                                         unchanged */
        options.phase[1] = options.phase[2] = ways[k];
        mapping = map_with(topology, pattern, options);
        for (int32_t r = 0; r < 8; r++)
            assert_int_equal(
                nw_topology_element_package(topology, mapping->core[r]),
                nw_topology_gpu_package(topology, mapping->gpu[r]));
        nw_mapping_free(mapping);
    }
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

/* --- several cores, several GPUs, sharing, hosts --- */

static void test_several_cores_and_gpus_a_rank(void **state)
{
    nw_topology *topology = machine_new((struct shape){2, 2, 5, 1, 3, false});
    struct nw_random random;
    nw_pattern *pattern;
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    nw_mapping *mapping;

    (void)state;
    nw_random_init(&random, 1);
    pattern = random_pattern(&random, 6, 60, 3);
    options.cores_per_rank = 2;
    options.gpus_per_rank = 2;
    MUST(nw_map_default(topology, pattern, &options, &mapping));
    for (int32_t r = 0; r < 6; r++) {
        struct nw_ints cores = nw_mapping_cores(mapping, r);

        assert_int_equal(cores.count, 2);
        assert_int_equal(nw_mapping_gpus(mapping, r).count, 2);
        assert_int_equal(mapping->node[r], r / 3);
    }
    /* units of two cores: 0-1 2-3 | 5-6 7-8, and 4 with 9 across packages */
    assert_int_equal(nw_mapping_cores(mapping, 0).values[1], 1);
    assert_int_equal(nw_mapping_cores(mapping, 1).values[0], 5);
    assert_int_equal(nw_mapping_cores(mapping, 2).values[0], 2);
    nw_mapping_free(mapping);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

/* A program that was built with an older header passes a shorter struct, behind
 * which are other data. The 8 ranks share the 4 cores. */
static void test_reference_reads_shorter_options(void **state)
{
    nw_topology *topology = machine_new((struct shape){2, 1, 2, 0, 0, false});
    const int32_t other_data = -1;
    struct nw_map_options options = {.size =
                                         offsetof(struct nw_map_options, hosts),
                                     .hosts = &other_data,
                                     .host_count = 1};
    struct nw_random random;
    nw_pattern *pattern;
    nw_mapping *mapping;

    (void)state;
    nw_random_init(&random, 1);
    pattern = random_pattern(&random, 8, 60, 1);
    MUST(nw_map_reference(topology, pattern, &options, &mapping));
    for (int32_t r = 0; r < 8; r++)
        assert_int_equal(mapping->node[r], r / 4);
    nw_mapping_free(mapping);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

static void test_chosen_hosts_and_slots(void **state)
{
    nw_topology *topology = machine_new((struct shape){4, 1, 4, 0, 0, false});
    struct nw_random random;
    nw_pattern *pattern;
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    const int32_t hosts[] = {3, 1}, slots[] = {2, 4};
    nw_mapping *mapping, *start = NULL;

    (void)state;
    nw_random_init(&random, 1);
    pattern = random_pattern(&random, 5, 60, 1);
    options.hosts = hosts;
    options.host_count = 2;
    options.slots = slots;
    options.algorithm = "block";
    mapping = map_with(topology, pattern, options);
    assert_int_equal(mapping->node[0], 3);
    assert_int_equal(mapping->node[1], 3);
    assert_int_equal(mapping->node[2], 1);
    assert_int_equal(mapping->node[4], 1);
    nw_mapping_free(mapping);
    options.hosts = (const int32_t[]){1, 1 << 20};
    assert_int_equal(nw_map_reference(topology, pattern, &options, &mapping),
                     NW_EINVAL);
    options.slots = NULL;
    options.algorithm = NULL;
    options.hosts = hosts;
    MUST(nw_map_reference(topology, pattern, &options, &start));
    options.start = start;
    options.lost = hosts;
    options.lost_count = 1;
    options.hosts = (const int32_t[]){1, 1 << 20};
    assert_int_equal(nw_map(topology, pattern, &options, &mapping, NULL),
                     NW_EINVAL);
    nw_mapping_free(start);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

static void test_too_small_says_what_would_fit(void **state)
{
    nw_topology *topology = machine_new((struct shape){2, 1, 3, 1, 2, false});
    nw_topology *plain = machine_new((struct shape){2, 1, 3, 0, 0, false});
    struct nw_random random;
    nw_pattern *host, *gpu;
    nw_mapping *mapping;

    (void)state;
    nw_random_init(&random, 1);
    host = random_pattern(&random, 7, 60, 1);
    gpu = random_pattern(&random, 5, 90, 2);
    assert_int_equal(nw_map(topology, host, NULL, &mapping, NULL), NW_EINVAL);
    assert_non_null(strstr(nw_error_text(), "at most 6 would fit"));
    assert_int_equal(nw_map(topology, gpu, NULL, &mapping, NULL), NW_EINVAL);
    assert_non_null(strstr(nw_error_text(), "at most 4 would fit"));
    assert_int_equal(nw_map(plain, gpu, NULL, &mapping, NULL), NW_EINVAL);
    assert_non_null(strstr(nw_error_text(), "has no GPUs"));
    nw_pattern_free(host);
    nw_pattern_free(gpu);
    nw_topology_free(topology);
    nw_topology_free(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_alternates),
        cmocka_unit_test(test_default_fills_by_gpus_or_cores),
        cmocka_unit_test(test_hierarchy_is_identity),
        cmocka_unit_test(test_cyclic_takes_nodes_in_turn),
        cmocka_unit_test(test_all_algorithms_keep_their_promises),
        cmocka_unit_test(test_whole_nodes_stay_whole),
        cmocka_unit_test(test_lost_nodes_move_few_ranks),
        cmocka_unit_test(test_tuned_numbers_are_explained),
        cmocka_unit_test(test_magc_improves_every_pair),
        cmocka_unit_test(test_auto_is_at_or_below_magc),
        cmocka_unit_test(test_haste_suits_the_size),
        cmocka_unit_test(test_affinity_brings_gpu_near),
        cmocka_unit_test(test_several_cores_and_gpus_a_rank),
        cmocka_unit_test(test_reference_reads_shorter_options),
        cmocka_unit_test(test_chosen_hosts_and_slots),
        cmocka_unit_test(test_too_small_says_what_would_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

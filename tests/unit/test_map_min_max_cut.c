/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the division of ranks over the switches of trees: the best of all
 * divisions is found, also if switches above the leaves send most. */
#include <nodewise/map.h>

#include "map/groups/min_max_cut.h"
#include "map/groups/switch_levels.h"
#include "support/slots.h"
#include "support/share.h"

#include <math.h>

#include <stdlib.h>
#include <string.h>

#define RANKS_MAX 12
#define LEAVES_MAX 4

struct switches {
    const char *machine;
    int ranks, edges, leaves;
    int leaf_of[8], capacity[LEAVES_MAX]; /* leaf switch of each node; number
                                             of ranks below each leaf switch */
    double above; /* weight of the bytes that leave a pod of two leaves,
                     relative to those that leave a leaf */
};

static const struct switches even = {"three_switches.yaml", 12,        48, 3,
                                     {0, 0, 1, 1, 2, 2},    {4, 4, 4}, 0};
static const struct switches uneven = {"uneven_switches.yaml", 12,        48, 3,
                                       {0, 1, 1, 2, 2, 2},     {2, 4, 6}, 0};
/* Two slots stay free. */
static const struct switches spare = {"uneven_switches.yaml", 10,        40, 3,
                                      {0, 1, 1, 2, 2, 2},     {2, 4, 6}, 0};
static const struct switches pods = {
    "slow_pods.yaml", 8, 16, 4, {0, 0, 1, 1, 2, 2, 3, 3}, {2, 2, 2, 2}, 4};

/* The weighted bytes to and from the switch that has most of them. */
static double fullest(const struct switches *switches,
                      const struct nw_slots *slots, const int *part)
{
    double leaf[LEAVES_MAX] = {0}, pod[LEAVES_MAX] = {0}, most = 0;

    for (int r = 0; r < switches->ranks; r++)
        for (size_t t = slots->row[r]; t < slots->row[r + 1]; t++) {
            double bytes = slots->edge[t].out + slots->edge[t].in;
            int there = part[slots->edge[t].peer];

            leaf[part[r]] += there == part[r] ? 0 : bytes;
            pod[part[r] / 2] += there / 2 == part[r] / 2 ? 0 : bytes;
        }
    for (int p = 0; p < switches->leaves; p++)
        most = fmax(most, fmax(leaf[p], pod[p] * switches->above));
    return most;
}

/* The least such sum of all divisions of the ranks from `rank` on. */
static double least_fullest(const struct switches *switches,
                            const struct nw_slots *slots, int *part, int rank,
                            int *capacity)
{
    double least = INFINITY;

    if (rank == switches->ranks)
        return fullest(switches, slots, part);
    for (int p = 0; p < switches->leaves; p++) {
        if (!capacity[p])
            continue;
        capacity[p]--;
        part[rank] = p;
        least = fmin(least,
                     least_fullest(switches, slots, part, rank + 1, capacity));
        capacity[p]++;
    }
    return least;
}

static double fullest_assigned(const struct switches *switches,
                               const struct nw_slots *slots)
{
    int part[RANKS_MAX];

    for (int r = 0; r < switches->ranks; r++)
        part[r] = switches->leaf_of[slots->host[slots->slot[r]]];
    return fullest(switches, slots, part);
}

/* Checks that a division is found if it is better than the default, and that it
 * then is the best one. */
static void check_division(struct nw_random *random,
                           const struct switches *switches)
{
    struct nw_objectives objectives = {.first = NW_OBJECTIVE_CONGESTION};
    struct assigned bench;
    double before, after;
    int part[RANKS_MAX], capacity[LEAVES_MAX];
    bool found;

    assigned_begin(&bench, switches->machine,
                   random_graph(random, switches->ranks, switches->edges));
    before = fullest_assigned(switches, &bench.slots);
    MUST(nw_slots_min_max_cut(&bench.slots, &objectives, &found));
    assigned_check(&bench.slots);
    after = fullest_assigned(switches, &bench.slots);
    memcpy(capacity, switches->capacity, sizeof capacity);
    assert_float_equal(
        after, least_fullest(switches, &bench.slots, part, 0, capacity), 1e-6);
    assert_true(found == (after < before));
    assigned_end(&bench);
}

static void divisions_are_the_best(void **state)
{
    int step = share_step(2, "divisions");
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 3);
    for (int i = 0; i < 2; i += step) {
        check_division(&random, &even);
        check_division(&random, &uneven);
        check_division(&random, &spare);
    }
}

static void pods_count_too(void **state)
{
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 5);
    for (int i = 0; i < 4; i++)
        check_division(&random, &pods);
}

struct expected {
    int count, parts[NW_SWITCH_LEVELS_MAX];
    double weight[NW_SWITCH_LEVELS_MAX];
};

static void check_levels(const char *machine, int ranks,
                         const struct expected *expected)
{
    struct nw_random random;
    struct nw_switch_levels levels;
    struct nw_switch_groups groups;
    struct assigned bench;
    bool found = false;

    nw_random_init(&random, 1);
    assigned_begin(&bench, machine, random_graph(&random, ranks, ranks));
    MUST(nw_alloc((size_t)bench.problem.host_count, sizeof *groups.group,
                  &groups.group));
    MUST(nw_switch_groups_nearest(&bench.slots, &groups, &found));
    assert_true(found);
    MUST(nw_switch_levels_find(&bench.slots, &groups, &levels));
    assert_int_equal(levels.count, expected->count);
    for (int s = 0; s < levels.count; s++) {
        assert_int_equal(levels.level[s].parts, expected->parts[s]);
        assert_float_equal(levels.level[s].weight, expected->weight[s], 1e-9);
    }
    free(groups.group);
    assigned_end(&bench);
}

/* The cases, in order:
 * - one link from each of three switches;
 * - one link from each leaf switch and one of the same speed from each pod;
 * - one link from each leaf switch, four times as fast as that from each pod;
 * - two links from each leaf switch and four from each pod of four leaf
 *   switches, all of one speed: a byte that leaves a pod counts half as much as
 *   one that leaves a leaf switch. */
static void links_are_counted(void **state)
{
    (void)state;
    check_levels("three_switches.yaml", 12, &(struct expected){1, {3}, {1}});
    check_levels("two_pods.yaml", 16, &(struct expected){2, {4, 2}, {1, 1}});
    check_levels("slow_pods.yaml", 8, &(struct expected){2, {4, 2}, {1, 4}});
    check_levels("wide_pods.yaml", 24,
                 &(struct expected){2, {12, 3}, {1, 0.5}});
}

#define CLIQUES 4

/* A pattern of four groups of four ranks each, numbered alternately; each group
 * sends much to its partner. */
static nw_pattern *cliques(const int partner[CLIQUES])
{
    nw_pattern_builder *builder;
    nw_pattern *pattern;

    MUST(nw_pattern_builder_new(16, &builder));
    for (int a = 0; a < 16; a++)
        for (int b = 0; b < 16; b++) {
            int p = a % CLIQUES, q = b % CLIQUES;
            uint64_t bytes = p == q ? 10000 : q == partner[p] ? 100 : 1;

            if (a != b)
                MUST(nw_pattern_builder_add(builder, a, b, NW_KIND_HH, bytes,
                                            1));
        }
    MUST(nw_pattern_builder_build(builder, &pattern));
    nw_pattern_builder_free(builder);
    return pattern;
}

/* Each of two pods has two leaf switches with two nodes of two ranks. A group
 * of ranks fills a leaf switch, and its partner must be on the other leaf
 * switch of the same pod. */
static void partners_share_a_pod(void **state)
{
    static const int partner[3][CLIQUES] = {
        {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}};
    struct nw_objectives objectives = {.first = NW_OBJECTIVE_CONGESTION};
    int step = share_step(3, "pairs of switches");

    (void)state;
    for (int i = 0; i < 3; i += step) {
        struct assigned bench;
        const struct nw_slots *slots = &bench.slots;
        int leaf[16];
        bool found;

        assigned_begin(&bench, "two_pods.yaml", cliques(partner[i]));
        MUST(nw_slots_min_max_cut(&bench.slots, &objectives, &found));
        assert_true(found);
        assigned_check(slots);
        for (int r = 0; r < 16; r++)
            leaf[r] = slots->host[slots->slot[r]] / 2;
        for (int r = 0; r < 16; r++) {
            assert_int_equal(leaf[r], leaf[r % CLIQUES]);
            assert_int_equal(leaf[r] / 2, leaf[partner[i][r % CLIQUES]] / 2);
        }
        assigned_end(&bench);
    }
}

/* The last of eight nodes has too few cores for a rank. It does not change
 * which nodes and switches belong together, wherever it is in the list of
 * hosts. */
static void nodes_may_have_no_slots(void **state)
{
    static const int32_t hosts[2][8] = {{0, 1, 2, 3, 4, 5, 6, 7},
                                        {0, 1, 7, 2, 3, 4, 5, 6}};
    struct nw_objectives objectives = {.first = NW_OBJECTIVE_CONGESTION};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct nw_map_options options = NW_MAP_OPTIONS_INIT;
        struct nw_switch_groups groups;
        struct nw_switch_levels levels;
        struct nw_random random;
        struct assigned bench;
        bool found;

        nw_random_init(&random, 1);
        options.hosts = hosts[i];
        options.host_count = 8;
        options.cores_per_rank = 2;
        assigned_begin_with(&bench, "small_node.yaml",
                            random_graph(&random, 7, 14), &options);
        MUST(nw_alloc(8, sizeof *groups.group, &groups.group));
        MUST(nw_switch_groups_nearest(&bench.slots, &groups, &found));
        assert_true(found);
        assert_int_equal(groups.parts, 4);
        MUST(nw_switch_levels_find(&bench.slots, &groups, &levels));
        assert_int_equal(levels.count, 2);
        assert_int_equal(levels.level[1].parts, 2);
        MUST(nw_slots_min_max_cut(&bench.slots, &objectives, &found));
        assigned_check(&bench.slots);
        free(groups.group);
        assigned_end(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(divisions_are_the_best),
        cmocka_unit_test(pods_count_too),
        cmocka_unit_test(links_are_counted),
        cmocka_unit_test(partners_share_a_pod),
        cmocka_unit_test(nodes_may_have_no_slots),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

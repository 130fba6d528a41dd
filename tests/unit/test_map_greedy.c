/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of algorithm 1 of MAGC against an example worked by hand and against a
 * slow, literal version of the published algorithm. Also tests the bandwidth of
 * nodes with several NICs in phase 1. */
#include <nodewise/map.h>

#include "map/phases/phases.h"
#include "support/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* One node of 2 packages x 2 cores: core links 4 bytes/s, package links 2. */
static nw_topology *small_node(double core, double package)
{
    nw_topology *topology;
    struct nw_node_type *type;
    int32_t cores, packages, p, c;

    MUST(nw_topology_new("small", &topology));
    cores = machine_class(topology, NW_LINK_CORE, core);
    packages = machine_class(topology, NW_LINK_SOCKET, package);
    MUST(nw_node_type_new(topology, "node", &type));
    for (int i = 0; i < 2; i++) {
        MUST(nw_node_type_add(type, 0, NW_VERTEX_PACKAGE, packages, &p));
        for (int k = 0; k < 2; k++)
            MUST(nw_node_type_add(type, p, NW_VERTEX_CORE, cores, &c));
    }
    MUST(nw_topology_set_nodes(topology, 1, 0));
    MUST(nw_strdup("n0", &topology->node_name[0]));
    MUST(nw_topology_finish(topology, NW_ELEMENTS_CORE));
    return topology;
}

/* Runs phase 2 alone, without the comparison with the default. */
static void run_greedy(const nw_topology *topology, const nw_pattern *pattern,
                       const struct nw_map_options *options, int32_t *core)
{
    struct nw_problem problem;
    struct nw_answer answer;
    struct nw_map_report report = {0};
    struct nw_phases phases = {{nw_place_block, nw_place_greedy, NULL},
                               NW_KINDS_ALL};

    MUST(nw_problem_init(&problem, topology, pattern, options));
    MUST(nw_answer_init(&answer, pattern->rank_count));
    MUST(nw_answer_by_phases(&problem, &phases, &answer, &report));
    for (int32_t r = 0; r < pattern->rank_count; r++)
        core[r] = answer.core[r];
    nw_answer_fini(&answer);
    nw_problem_fini(&problem);
}

/*
 * Bytes: 0 -> 1: 8, 1 -> 2: 4, 2 -> 3: 6, 3 -> 0: 2. Elements 0 1 | 2 3.
 *
 * First, nothing is mapped; the first term is 0:
 *   delta(0) = -(8 + 2) / 2 = -5     delta(1) = -(8 + 4) / 2 = -6
 *   delta(2) = -(4 + 6) / 2 = -5     delta(3) = -(6 + 2) / 2 = -4
 * 3 is highest; no traffic with anyone mapped: all elements cost 0: element 0.
 *
 * Second: delta(0) = 2/1 - 8/1 = -6   delta(1) = 0 - (8 + 4)/2 = -6
 *         delta(2) = 6/1 - 4/1 = 2.   2 is next. Its 6 bytes to 3:
 *   element 1: core links 6/4 = 1.5;  elements 2, 3: package links 6/2 = 3.
 * Element 1; maximum 1.5.
 *
 * Third: delta(0) = 2 - 8 = -6, delta(1) = 4 - 8 = -4. 1 is next. Its 4 bytes
 * to 2 cost package links 4/2 = 2 on element 2 and on 3: the lower, 2.
 *
 * Last, 0 on element 3 (0 -> 1 inside the package: 8/4 = 2).
 */
static void test_by_hand(void **state)
{
    nw_topology *topology = small_node(4, 2);
    nw_pattern_builder *builder;
    nw_pattern *pattern;
    const int bytes[] = {8, 4, 6, 2};
    int32_t core[4];

    (void)state;
    MUST(nw_pattern_builder_new(4, &builder));
    for (int i = 0; i < 4; i++)
        MUST(nw_pattern_builder_add(builder, i, (i + 1) % 4, NW_KIND_HH,
                                    (uint64_t)bytes[i], 1));
    MUST(nw_pattern_builder_build(builder, &pattern));
    nw_pattern_builder_free(builder);
    run_greedy(topology, pattern, NULL, core);
    assert_int_equal(core[0], 3);
    assert_int_equal(core[1], 2);
    assert_int_equal(core[2], 1);
    assert_int_equal(core[3], 0);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

/* --- the printed algorithm, line by line, everything from scratch --- */

#define MAX 32

struct literal {
    const nw_topology *topology;
    int n, elements;
    double c[MAX][MAX];
    int tau[MAX]; /* -1 unmapped */
};

static double delta_of(const struct literal *a, int q)
{
    double sum[2] = {0}, count[2] = {0};

    for (int r = 0; r < a->n; r++) {
        int side = a->tau[r] < 0;

        if (r == q)
            continue;
        sum[side] += a->c[q][r] + a->c[r][q];
        count[side] += a->c[q][r] > 0 || a->c[r][q] > 0;
    }
    return (count[0] > 0 ? sum[0] / count[0] : 0) -
           (count[1] > 0 ? sum[1] / count[1] : 0);
}

static double max_congestion(const struct literal *a)
{
    size_t links = (size_t)nw_topology_link_count(a->topology);
    double *load = calloc(2 * links, sizeof *load), most = 0;
    uint32_t hops[64];

    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < a->n; j++) {
            size_t count;

            if (a->tau[i] < 0 || a->tau[j] < 0 || i == j)
                continue;
            count = nw_topology_route(
                a->topology, nw_topology_element_end(a->topology, a->tau[i]),
                nw_topology_element_end(a->topology, a->tau[j]), hops);
            for (size_t h = 0; h < count; h++)
                load[hops[h]] += a->c[i][j];
        }
    for (size_t h = 0; h < 2 * links; h++) {
        struct nw_link_info info =
            nw_topology_link(a->topology, (int32_t)(h / 2));

        if (load[h] / info.bandwidth[h & 1] > most)
            most = load[h] / info.bandwidth[h & 1];
    }
    free(load);
    return most;
}

static bool is_taken(const struct literal *a, int element)
{
    for (int i = 0; i < a->n; i++)
        if (a->tau[i] == element)
            return true;
    return false;
}

static int choose_process(const struct literal *a)
{
    int best = -1;

    for (int q = 0; q < a->n; q++)
        if (a->tau[q] < 0 && (best < 0 || delta_of(a, q) > delta_of(a, best)))
            best = q;
    return best;
}

static int choose_element(struct literal *a, int process)
{
    double least = 0;
    int best = -1;

    for (int e = 0; e < a->elements; e++) {
        double cost;

        if (is_taken(a, e))
            continue;
        a->tau[process] = e;
        cost = max_congestion(a);
        a->tau[process] = -1;
        if (best < 0 || cost < least) {
            best = e;
            least = cost;
        }
    }
    return best;
}

static void literal_algorithm(struct literal *a, const nw_pattern *pattern)
{
    for (int i = 0; i < a->n; i++)
        for (size_t e = pattern->row[i]; e < pattern->row[i + 1]; e++)
            if (pattern->kind[e] == NW_KIND_HH && pattern->dst[e] != i)
                a->c[i][pattern->dst[e]] += (double)pattern->bytes[e];
    for (int q = choose_process(a); q >= 0; q = choose_process(a))
        a->tau[q] = choose_element(a, q);
}

static nw_topology *random_node(struct nw_random *random)
{
    static const double rates[] = {1, 2, 3, 10};
    nw_topology *topology;

    if (nw_random_below(random, 2))
        return small_node(rates[nw_random_below(random, 4)],
                          rates[nw_random_below(random, 4)]);
    if (nw_random_below(random, 2)) {
        MUST(nw_topology_load("hierarchy:2:3:4@1:2:3", NULL, &topology));
        return topology;
    }
    return machine_new((struct shape){1, 1 + (int)nw_random_below(random, 3),
                                      1 + (int)nw_random_below(random, 5), 1, 1,
                                      false});
}

static void test_against_the_printed_algorithm(void **state)
{
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 7);
    for (int trial = 0; trial < 200; trial++) {
        nw_topology *topology = random_node(&random);
        struct literal a = {.topology = topology};
        int32_t core[MAX];
        nw_pattern *pattern;

        a.elements = nw_topology_element_count(topology);
        a.n = 1 + (int)nw_random_below(&random, (uint64_t)a.elements);
        pattern = random_pattern(&random, a.n, a.n * 8, 1);
        for (int i = 0; i < MAX; i++)
            a.tau[i] = -1;
        literal_algorithm(&a, pattern);
        run_greedy(topology, pattern, NULL, core);
        for (int i = 0; i < a.n; i++)
            assert_int_equal(core[i], a.tau[i]);
        nw_pattern_free(pattern);
        nw_topology_free(topology);
    }
}

/* In phase 1, a node with NICs of 1, 2 and 4 bytes/s has a NIC of 7 bytes/s,
 * whichever NIC a route takes. */
static void test_nics_of_a_node_add_up(void **state)
{
    const double rate[] = {1, 2, 4};
    nw_topology *topology;
    struct nw_node_type *type;
    nw_pattern_builder *builder;
    nw_pattern *pattern;
    struct nw_problem problem;
    struct nw_places places;
    uint32_t buffer[64];
    int32_t vertex;

    (void)state;
    MUST(nw_pattern_builder_new(2, &builder));
    pattern_pair(builder, 0, 1, NW_KIND_HH, 8);
    MUST(nw_pattern_builder_build(builder, &pattern));
    nw_pattern_builder_free(builder);
    MUST(nw_topology_new("nics", &topology));
    MUST(nw_node_type_new(topology, "node", &type));
    MUST(nw_node_type_add(type, 0, NW_VERTEX_CORE,
                          machine_class(topology, NW_LINK_CORE, 10), &vertex));
    for (int c = 0; c < 3; c++)
        MUST(nw_node_type_add(type, 0, NW_VERTEX_NIC,
                              machine_class(topology, NW_LINK_PCIE, 10),
                              &vertex));
    machine_network(topology, 2, 3);
    for (int n = 0; n < 2; n++)
        MUST(nw_strdup(n ? "n1" : "n0", &topology->node_name[n]));
    for (int p = 0; p < 6; p++) /* the first NICs: 1 and 4 bytes/s */
        topology->port_class[p] =
            machine_class(topology, NW_LINK_NIC, rate[p < 3 ? p : 5 - p]);
    MUST(nw_topology_finish(topology, NW_ELEMENTS_CORE));
    MUST(nw_problem_init(&problem, topology, pattern, NULL));
    MUST(nw_places_of_hosts(&problem, &places));
    for (int32_t n = 0; n < 2; n++) {
        struct nw_hops hops = nw_places_route(&places, n, 1 - n, buffer);

        assert_int_equal(hops.count, 2);
        assert_true(places.bandwidth[hops.hop[0]] == 7);
        assert_true(places.bandwidth[hops.hop[1]] == 7);
    }
    nw_places_fini(&places);
    nw_problem_fini(&problem);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nics_of_a_node_add_up),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_against_the_printed_algorithm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of costs against sums computed by hand and against invariants, and of
 * reading and writing mapping files. */
#include <nodewise/cost.h>
#include <nodewise/map.h>

#include "base/random.h"
#include "cost/pricing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static nw_topology *load(const char *source)
{
    nw_topology *topology = NULL;

    if (nw_topology_load(source, NULL, &topology))
        fail_msg("%s", nw_error_text());
    return topology;
}

struct edge {
    int32_t src, dst;
    uint64_t bytes, messages;
};

static nw_pattern *make_pattern(int32_t ranks, const struct edge *edges,
                                size_t count)
{
    nw_pattern_builder *builder;
    nw_pattern *pattern;

    assert_int_equal(nw_pattern_builder_new(ranks, &builder), NW_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(nw_pattern_builder_add(
                             builder, edges[i].src, edges[i].dst, NW_KIND_HH,
                             edges[i].bytes, edges[i].messages),
                         NW_OK);
    assert_int_equal(nw_pattern_builder_build(builder, &pattern), NW_OK);
    nw_pattern_builder_free(builder);
    return pattern;
}

static nw_mapping *place(const nw_topology *topology, const int32_t *cores,
                         int32_t ranks)
{
    nw_mapping *mapping;

    assert_int_equal(nw_mapping_new(topology, ranks, &mapping), NW_OK);
    for (int32_t r = 0; r < ranks; r++) {
        mapping->node[r] = 0;
        mapping->core[r] = cores[r];
        mapping->gpu[r] = -1;
    }
    return mapping;
}

/* hierarchy 2:2@1:10 has the cores {0,1} {2,3}. Computed by hand: 0->1 has 7
 * bytes at distance 1, 1->2 has 5 bytes at distance 10, and 3->3 any number at
 * distance 0. Therefore J = 7 + 50 = 57, and the latency of the messages is 2*1
 * + 1*10. */
static void hop_bytes_by_hand(void **state)
{
    static const struct edge edges[] = {
        {0, 1, 7, 2}, {1, 2, 5, 1}, {3, 3, 9, 1}};
    static const int32_t identity[] = {0, 1, 2, 3}, moved[] = {0, 2, 3, 1};
    nw_topology *topology = load("hierarchy:2:2@1:10");
    nw_pattern *pattern = make_pattern(4, edges, 3);
    nw_mapping *mapping = place(topology, identity, 4);
    struct nw_cost cost;

    (void)state;
    assert_int_equal(nw_cost_evaluate(topology, pattern, mapping, &cost),
                     NW_OK);
    assert_true(cost.hop_bytes.integral);
    assert_true(cost.hop_bytes.exact == 57);
    assert_true(cost.host_hop_bytes.exact == 57);
    assert_true(cost.gpu_hop_bytes.exact == 0);
    assert_true(cost.latency == 12);
    /* links have 1 byte/s; core 1 sends 5 bytes up and receives 7 */
    assert_true(cost.max_congestion == 7);
    assert_int_equal(cost.level_bytes[0][0], 9);
    assert_int_equal(cost.level_bytes[0][1], 7);
    assert_int_equal(cost.level_bytes[0][2], 5);
    nw_cost_fini(&cost);
    nw_mapping_free(mapping);
    mapping = place(topology, moved, 4); /* ranks 0 and 1 in different
                                            groups, 1 and 2 in the same one */
    assert_int_equal(nw_cost_evaluate(topology, pattern, mapping, &cost),
                     NW_OK);
    assert_true(cost.hop_bytes.exact == 75);
    nw_cost_fini(&cost);
    nw_mapping_free(mapping);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

/* If the distance is the number of links, the sum of the bytes on all links is
 * J (the hop-bytes) for every mapping. */
static void link_loads_add_up_to_hop_bytes(void **state)
{
    nw_topology *topology = load("hierarchy:3:4:5");
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 11);
    for (int round = 0; round < 20; round++) {
        struct edge edges[300];
        int32_t cores[60];
        struct nw_cost cost;
        nw_pattern *pattern;
        nw_mapping *mapping;
        double sum = 0;

        for (int32_t r = 0; r < 60; r++)
            cores[r] = r;
        nw_random_shuffle(&random, cores, 60);
        for (int i = 0; i < 300; i++)
            edges[i] = (struct edge){(int32_t)nw_random_below(&random, 60),
                                     (int32_t)nw_random_below(&random, 60),
                                     nw_random_below(&random, 1000), 1};
        pattern = make_pattern(60, edges, 300);
        mapping = place(topology, cores, 60);
        assert_int_equal(nw_cost_evaluate(topology, pattern, mapping, &cost),
                         NW_OK);
        for (int32_t l = 0; l < 2 * cost.link_count; l++)
            sum += cost.link_congestion[l];
        assert_true(sum == cost.hop_bytes.value);
        nw_cost_fini(&cost);
        nw_mapping_free(mapping);
        nw_pattern_free(pattern);
    }
    nw_topology_free(topology);
}

static void sums_do_not_overflow_64_bits(void **state)
{
    static const struct edge edges[] = {{0, 2, UINT64_MAX / 2, 1},
                                        {1, 3, UINT64_MAX / 2, 1},
                                        {1, 2, UINT64_MAX / 2, 1}};
    static const int32_t identity[] = {0, 1, 2, 3};
    nw_topology *topology = load("hierarchy:2:2@1:1000");
    nw_pattern *pattern = make_pattern(4, edges, 2);
    nw_mapping *mapping = place(topology, identity, 4);
    struct nw_cost cost;

    (void)state;
    assert_int_equal(nw_cost_evaluate(topology, pattern, mapping, &cost),
                     NW_OK);
    assert_true(cost.hop_bytes.exact == (nw_uint128)(UINT64_MAX / 2) * 2000);
    assert_true(cost.level_bytes[0][2] == UINT64_MAX - 1);
    nw_cost_fini(&cost);
    nw_pattern_free(pattern);
    pattern = make_pattern(4, edges, 3);
    assert_int_equal(nw_cost_evaluate(topology, pattern, mapping, &cost),
                     NW_EFORMAT);
    assert_non_null(strstr(nw_error_text(), "pass 2^64"));
    nw_mapping_free(mapping);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

/* Gives each rank a random core, and a GPU of its node if the node has any. */
static nw_mapping *scatter(const nw_topology *topology, int32_t ranks,
                           struct nw_random *random)
{
    int32_t count = nw_topology_element_count(topology);
    int32_t *deal = calloc((size_t)count, sizeof *deal);
    nw_mapping *mapping;

    for (int32_t i = 0; i < count; i++)
        deal[i] = i;
    nw_random_shuffle(random, deal, (size_t)count);
    assert_int_equal(nw_mapping_new(topology, ranks, &mapping), NW_OK);
    for (int32_t r = 0; r < ranks; r++) {
        int32_t node = nw_topology_element_end(topology, deal[r]).node;
        int32_t gpus = nw_topology_node_gpus(topology, node).count;

        mapping->node[r] = node;
        mapping->core[r] =
            deal[r] - nw_topology_node_elements(topology, node).first;
        mapping->gpu[r] = gpus ? r % gpus : -1;
    }
    free(deal);
    return mapping;
}

static struct nw_end end_of(const nw_topology *topology,
                            const nw_mapping *mapping, int32_t r, bool gpu)
{
    int32_t node = mapping->node[r];

    if (gpu)
        return nw_topology_gpu_end(topology,
                                   nw_topology_node_gpus(topology, node).first +
                                       mapping->gpu[r]);
    return nw_topology_element_end(
        topology,
        nw_topology_node_elements(topology, node).first + mapping->core[r]);
}

static nw_pattern *random_pattern(int32_t ranks, int kinds,
                                  struct nw_random *random)
{
    nw_pattern_builder *builder;
    nw_pattern *pattern;

    assert_int_equal(nw_pattern_builder_new(ranks, &builder), NW_OK);
    for (int i = 0; i < 400; i++)
        assert_int_equal(
            nw_pattern_builder_add(
                builder, (int32_t)nw_random_below(random, (uint64_t)ranks),
                (int32_t)nw_random_below(random, (uint64_t)ranks),
                (enum nw_kind)nw_random_below(random, (uint64_t)kinds),
                nw_random_below(random, 100000),
                1 + nw_random_below(random, 9)),
            NW_OK);
    assert_int_equal(nw_pattern_builder_build(builder, &pattern), NW_OK);
    nw_pattern_builder_free(builder);
    return pattern;
}

static void near(double a, double b)
{
    assert_true(a - b <= 1e-12 * b && b - a <= 1e-12 * b);
}

/* Follows each message along its route and adds its bytes to every link. */
static void follow(const nw_topology *topology, const nw_pattern *pattern,
                   const nw_mapping *mapping)
{
    size_t links = (size_t)nw_topology_link_count(topology);
    double *load = calloc(2 * links, sizeof *load), sum = 0, latency = 0;
    uint32_t *hops = calloc(nw_topology_route_max(topology), sizeof *hops);
    bool given = !strncmp(nw_topology_name(topology), "hierarchy", 9);
    struct nw_cost cost;

    for (int32_t r = 0; r < pattern->rank_count; r++)
        for (size_t e = pattern->row[r]; e < pattern->row[r + 1]; e++) {
            int kind = pattern->kind[e];
            struct nw_end a = end_of(topology, mapping, r,
                                     kind == NW_KIND_GG || kind == NW_KIND_GH);
            struct nw_end b = end_of(topology, mapping, pattern->dst[e],
                                     kind == NW_KIND_GG || kind == NW_KIND_HG);
            size_t count = nw_topology_route(topology, a, b, hops);

            sum += (double)pattern->bytes[e] *
                   nw_topology_distance(topology, a, b);
            for (size_t i = 0; i < count; i++) {
                struct nw_link_info link =
                    nw_topology_link(topology, (int32_t)(hops[i] / 2));

                load[hops[i]] +=
                    (double)pattern->bytes[e] / link.bandwidth[hops[i] & 1];
                latency += (double)pattern->messages[e] * link.latency;
            }
        }
    assert_int_equal(nw_cost_evaluate(topology, pattern, mapping, &cost),
                     NW_OK);
    near(cost.hop_bytes.value, sum);
    if (!given)
        near(cost.latency, latency);
    for (size_t l = 0; l < 2 * links; l++)
        near(cost.link_congestion[l], load[l]);
    nw_cost_fini(&cost);
    free(hops);
    free(load);
}

/* The library sums the loads of links without following routes. The sums must
 * equal those of following the routes, on trees, networks, direct links and
 * with staging memory. */
static void sums_are_those_of_the_routes(void **state)
{
    static const char *const sources[] = {"hierarchy:3:4:5@1:7:9",
                                          "magc-a",
                                          "magc-b",
                                          "rashti-32",
                                          "summit",
                                          "dgx-h100",
                                          "dgx-h100-rail:2",
                                          "gb200-nvl72:2",
                                          "mi300x:2",
                                          "wilkes",
                                          "dragonfly.yaml",
                                          "fat-tree.yaml",
                                          "graph.yaml",
                                          "torus.yaml",
                                          "devices.yaml"};
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 5);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        char path[512];
        nw_topology *topology;
        nw_pattern *pattern;
        nw_mapping *mapping;
        int32_t ranks;
        int kinds = NW_KIND_COUNT;

        snprintf(path, sizeof path, "%s/topology/valid/%s",
                 getenv("NW_FIXTURES"), sources[i]);
        topology = load(strstr(sources[i], ".yaml") ? path : sources[i]);
        ranks = nw_topology_element_count(topology);
        ranks = ranks < 40 ? ranks : 40;
        mapping = scatter(topology, ranks, &random);
        for (int32_t r = 0; r < ranks; r++)
            kinds = mapping->gpu[r] < 0 ? 1 : kinds;
        pattern = random_pattern(ranks, kinds, &random);
        follow(topology, pattern, mapping);
        nw_mapping_free(mapping);
        nw_pattern_free(pattern);
        nw_topology_free(topology);
    }
}

/* The number of bytes that one core sends may exceed 64 bits although the
 * number of bytes of each level fits. */
static void one_core_may_pass_64_bits(void **state)
{
    static const struct edge edges[] = {{0, 1, UINT64_MAX - 1, 1},
                                        {0, 2, UINT64_MAX - 1, 1}};
    static const int32_t identity[] = {0, 1, 2, 3};
    nw_topology *topology = load("hierarchy:2:2@1:1000");
    nw_pattern *pattern = make_pattern(4, edges, 2);
    nw_mapping *mapping = place(topology, identity, 4);

    (void)state;
    follow(topology, pattern, mapping);
    nw_mapping_free(mapping);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

static void same_cost(const struct nw_cost *a, const struct nw_cost *b)
{
    size_t levels = (size_t)a->level_count * sizeof(uint64_t);

    assert_true(a->hop_bytes.exact == b->hop_bytes.exact);
    assert_true(a->hop_bytes.value == b->hop_bytes.value);
    assert_true(a->gpu_hop_bytes.value == b->gpu_hop_bytes.value);
    assert_true(a->latency == b->latency && a->time == b->time);
    assert_true(a->max_congestion == b->max_congestion);
    for (int i = 0; i < 2; i++) {
        assert_memory_equal(a->level_bytes[i], b->level_bytes[i], levels);
        assert_memory_equal(a->level_messages[i], b->level_messages[i], levels);
    }
}

/* With enough edges for several slices, the costs are the same to the last bit
 * on any number of threads, and so is a copy of them. */
static void threads_do_not_change_costs(void **state)
{
    static const char *const sources[] = {
        "hierarchy:4:16:96@0.1:1.7:9.3",
        "hwloc:node:48 package:2 core:64 pu:1"};

    (void)state;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        struct nw_random random;
        nw_topology *topology = load(sources[i]);
        nw_pattern *pattern;
        nw_mapping *mapping;
        struct nw_cost one, more, copy;

        nw_random_init(&random, 3);
        assert_true(nw_topology_element_count(topology) == 6144);
        mapping = scatter(topology, 6144, &random);
        assert_int_equal(nw_pattern_generate("stencil3d27:dims=16x16x24,"
                                             "periodic=1",
                                             &pattern),
                         NW_OK);
        assert_true(pattern->edge_count > 131072);
        for (size_t e = 0; e < pattern->edge_count; e++) {
            pattern->bytes[e] = nw_random_below(&random, 1000000);
            pattern->messages[e] = nw_random_below(&random, 100);
        }
        for (int32_t threads = 1; threads <= 5; threads++) {
            struct nw_pricing how = {topology, pattern, mapping, threads};

            assert_int_equal(nw_cost_price(&how, &more), NW_OK);
            if (threads == 1)
                one = more;
            same_cost(&one, &more);
            if (threads > 1)
                nw_cost_fini(&more);
        }
        follow(topology, pattern, mapping);
        assert_int_equal(nw_cost_copy(&one, &copy), NW_OK);
        same_cost(&one, &copy);
        nw_cost_fini(&copy);
        nw_cost_fini(&one);
        nw_mapping_free(mapping);
        nw_pattern_free(pattern);
        nw_topology_free(topology);
    }
}

/* The cost of a training step contains the costs of its phases, each as if the
 * phase were evaluated alone, and so does a copy. */
static void steps_have_the_costs_of_their_phases(void **state)
{
    nw_topology *topology = load("dgx-h100-rail:2");
    const struct nw_pattern_phases *phases, *again;
    struct nw_cost step, copy;
    nw_pattern *pattern;
    nw_mapping *mapping;
    double time = 0;

    (void)state;
    assert_int_equal(
        nw_pattern_generate("training:tp=4,dp=2,pp=2,layers=2", &pattern),
        NW_OK);
    assert_int_equal(nw_map_default(topology, pattern, NULL, &mapping), NW_OK);
    assert_int_equal(nw_pattern_find_phases(pattern, &phases), NW_OK);
    assert_int_equal(nw_pattern_find_phases(pattern, &again), NW_OK);
    assert_ptr_equal(phases, again);
    assert_true(phases->found);
    assert_int_equal(nw_cost_evaluate(topology, pattern, mapping, &step),
                     NW_OK);
    assert_int_equal(nw_cost_copy(&step, &copy), NW_OK);
    for (int p = 0; p < NW_PHASE_COUNT; p++) {
        bool used = p == NW_PHASE_TENSOR || p == NW_PHASE_DATA ||
                    p == NW_PHASE_PIPELINE;
        struct nw_cost alone;

        assert_int_equal(!!phases->pattern[p], used);
        assert_int_equal(!!step.phase[p].level_count, used);
        if (!used)
            continue;
        assert_int_equal(
            nw_cost_evaluate(topology, phases->pattern[p], mapping, &alone),
            NW_OK);
        same_cost(&step.phase[p], &alone);
        same_cost(&step.phase[p], &copy.phase[p]);
        time += alone.time;
        nw_cost_fini(&alone);
    }
    assert_true(step.has_phases && step.time == time);
    nw_cost_fini(&copy);
    nw_cost_fini(&step);
    nw_mapping_free(mapping);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void mapping_files_come_back(void **state)
{
    static const char text[] = "nodewise mapping 1\nranks 4\n"
                               "0 a 0 -\n1 b 3-4,8 1,0 2\n2 * * *\n"
                               "3 a 1 b:2\n";
    char in[] = "/tmp/nodewise-test-XXXXXX",
         out[] = "/tmp/nodewise-test-XXXXXX";
    char back[sizeof text + 1] = "";
    nw_mapping *mapping;
    FILE *file;

    (void)state;
    close(mkstemp(in));
    close(mkstemp(out));
    write_file(in, text);
    assert_int_equal(nw_mapping_read(in, NULL, &mapping), NW_OK);
    assert_int_equal(mapping->rank_count, 4);
    assert_int_equal(nw_mapping_cores(mapping, 1).count, 3);
    assert_int_equal(nw_mapping_gpus(mapping, 1).values[0], 1);
    assert_int_equal(nw_mapping_gpus(mapping, 0).count, 0);
    assert_int_equal(nw_mapping_cores(mapping, 2).count, 0);
    assert_int_equal(nw_mapping_gpus(mapping, 2).count, 1);
    assert_int_equal(nw_mapping_gpus(mapping, 2).values[0], -2);
    assert_int_equal(mapping->nic[1], 2);
    assert_int_equal(mapping->node[2], -1);
    assert_string_equal(mapping->node_name[mapping->gpu_node[3]], "b");
    assert_int_equal(nw_mapping_write(mapping, out), NW_OK);
    file = fopen(out, "r");
    assert_int_equal(fread(back, 1, sizeof back, file), sizeof text - 1);
    fclose(file);
    assert_string_equal(back, text);
    nw_mapping_free(mapping);
    unlink(in);
    unlink(out);
}

static void bad_mapping_files_are_refused(void **state)
{
    static const char *const bad[] = {
        "nodewise mapping 2\nranks 1\n0 a 0 -\n",
        "nodewise pattern 1\nranks 1\n",
        "nodewise mapping 1\n",
        "nodewise mapping 1\nranks 0\n",
        "nodewise mapping 1\nranks -1\n",
        "nodewise mapping 1\nranks nan\n",
        "nodewise mapping 1\nranks 2147483647\n0 a 0 -\n",
        "nodewise mapping 1\nranks 99999999999999999999\n0 a 0 -\n",
        "nodewise mapping 1\nranks 2\n0 a 0 -\n",
        "nodewise mapping 1\nranks 1\n0 a 0 -\n1 a 1 -\n",
        "nodewise mapping 1\nranks 2\n1 a 0 -\n0 a 1 -\n",
        "nodewise mapping 1\nranks 1\n0 a 0\n",
        "nodewise mapping 1\nranks 1\n0 a 0 - 0 extra\n",
        "nodewise mapping 1\nranks 1\n0 a -1 -\n",
        "nodewise mapping 1\nranks 1\n0 a 4-3 -\n",
        "nodewise mapping 1\nranks 1\n0 a 0,0 -\n",
        "nodewise mapping 1\nranks 1\n0 a 0-999999999 -\n",
        "nodewise mapping 1\nranks 1\n0 a 1e3 -\n",
        "nodewise mapping 1\nranks 1\n0 * 1 -\n",
        "nodewise mapping 1\nranks 1\n0 a 0 x\n",
        "nodewise mapping 1\nranks 1\n0 a\xff 0 -\n",
        "",
    };
    char path[] = "/tmp/nodewise-test-XXXXXX";

    (void)state;
    close(mkstemp(path));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        nw_mapping *mapping = NULL;
        char prefix[64];

        write_file(path, bad[i]);
        snprintf(prefix, sizeof prefix, "%s:", path);
        if (nw_mapping_read(path, NULL, &mapping) != NW_EFORMAT)
            fail_msg("accepted: %s", bad[i]);
        assert_null(mapping);
        assert_memory_equal(nw_error_text(), prefix, strlen(prefix));
    }
    unlink(path);
}

static void mappings_must_fit_the_topology(void **state)
{
    char path[] = "/tmp/nodewise-test-XXXXXX";
    nw_topology *topology = load("hierarchy:2:2");
    nw_mapping *mapping = NULL;

    (void)state;
    close(mkstemp(path));
    write_file(path, "nodewise mapping 1\nranks 1\n0 machine 4 -\n");
    assert_int_equal(nw_mapping_read(path, topology, &mapping), NW_EFORMAT);
    write_file(path, "nodewise mapping 1\nranks 1\n0 elsewhere 0 -\n");
    assert_int_equal(nw_mapping_read(path, topology, &mapping), NW_EFORMAT);
    write_file(path, "nodewise mapping 1\nranks 1\n0 machine 0 0\n");
    assert_int_equal(nw_mapping_read(path, topology, &mapping), NW_EFORMAT);
    write_file(path, "nodewise mapping 1\nranks 1\n0 machine 3 -\n");
    assert_int_equal(nw_mapping_read(path, topology, &mapping), NW_OK);
    nw_mapping_free(mapping);
    nw_topology_free(topology);
    unlink(path);
}

/* A mapping that was read without a topology may name more nodes than the
 * topology has, for the core or for the GPU of a rank. */
static void nodes_beyond_the_topology_are_refused(void **state)
{
    static const char *const beyond[] = {
        "nodewise mapping 1\nranks 2\n0 a 0 0\n1 b 0 0\n",
        "nodewise mapping 1\nranks 2\n0 a 0 0\n1 a 1 b:0\n"};
    static const struct edge edges[] = {{0, 1, 8, 1}};
    nw_topology *topology = load("dgx-h100-rail:1");
    nw_pattern *pattern = make_pattern(2, edges, 1);
    char path[] = "/tmp/nodewise-test-XXXXXX";

    (void)state;
    close(mkstemp(path));
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        nw_mapping *mapping = NULL;
        struct nw_cost cost;

        write_file(path, beyond[i]);
        assert_int_equal(nw_mapping_read(path, NULL, &mapping), NW_OK);
        assert_int_equal(nw_cost_evaluate(topology, pattern, mapping, &cost),
                         NW_EINVAL);
        nw_mapping_free(mapping);
    }
    unlink(path);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hop_bytes_by_hand),
        cmocka_unit_test(link_loads_add_up_to_hop_bytes),
        cmocka_unit_test(sums_are_those_of_the_routes),
        cmocka_unit_test(sums_do_not_overflow_64_bits),
        cmocka_unit_test(one_core_may_pass_64_bits),
        cmocka_unit_test(threads_do_not_change_costs),
        cmocka_unit_test(steps_have_the_costs_of_their_phases),
        cmocka_unit_test(mapping_files_come_back),
        cmocka_unit_test(bad_mapping_files_are_refused),
        cmocka_unit_test(mappings_must_fit_the_topology),
        cmocka_unit_test(nodes_beyond_the_topology_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of distances and routes against brute force. Each random machine is
 * expanded into one graph of vertices and links, with the numbering that
 * topology.h defines. The tests follow routes in this graph link by link and
 * compare their lengths with breadth-first searches. */
#include "base/random.h"
#include "topology/topology.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#define MACHINES 150
#define PAIRS 60

/* --- random machines --- */

static int32_t pick(struct nw_random *random, int32_t count)
{
    return (int32_t)nw_random_below(random, (uint64_t)count);
}

static int32_t some_class(nw_topology *topology, struct nw_random *random)
{
    struct nw_link_class figures =
        nw_link_assumed((enum nw_link_kind)pick(random, NW_LINK_KIND_COUNT));
    int32_t class;

    figures.half_duplex = pick(random, 4) == 0;
    assert_int_equal(nw_topology_class(topology, &figures, &class), NW_OK);
    return class;
}

static void add_vertices(nw_topology *topology, struct nw_node_type *type,
                         struct nw_random *random)
{
    static const enum nw_vertex_kind inner[] = {
        NW_VERTEX_PACKAGE, NW_VERTEX_NUMA, NW_VERTEX_L3, NW_VERTEX_BRIDGE};
    static const enum nw_vertex_kind leaf[] = {NW_VERTEX_CORE, NW_VERTEX_CORE,
                                               NW_VERTEX_GPU, NW_VERTEX_GPU,
                                               NW_VERTEX_NIC};
    int32_t inner_count = pick(random, 8), leaf_count = pick(random, 12), v;

    for (int32_t i = 0; i < inner_count; i++)
        assert_int_equal(nw_node_type_add(type, pick(random, i + 1),
                                          inner[pick(random, 4)],
                                          some_class(topology, random), &v),
                         NW_OK);
    for (int32_t i = 0; i <= leaf_count; i++)
        assert_int_equal(
            nw_node_type_add(type, pick(random, inner_count + 1),
                             i ? leaf[pick(random, 5)] : NW_VERTEX_CORE,
                             some_class(topology, random), &v),
            NW_OK);
}

static void add_direct_links(nw_topology *topology, struct nw_node_type *type,
                             struct nw_random *random)
{
    int32_t first = type->vertex_count, switches = pick(random, 3), v;

    for (int32_t i = 0; i < switches; i++)
        assert_int_equal(nw_node_type_add(type, 0, NW_VERTEX_GPU_SWITCH,
                                          some_class(topology, random), &v),
                         NW_OK);
    for (int32_t a = 0; a < first; a++) {
        for (int32_t b = 0; b < a; b++)
            if (type->kind[a] == NW_VERTEX_GPU &&
                type->kind[b] == NW_VERTEX_GPU && pick(random, 3) == 0) {
                bool turned = pick(random, 2);

                assert_int_equal(nw_node_type_add_direct(
                                     type, turned ? b : a, turned ? a : b,
                                     some_class(topology, random)),
                                 NW_OK);
            }
        for (int32_t s = first; s < first + switches; s++)
            if (type->kind[a] == NW_VERTEX_GPU && pick(random, 2))
                assert_int_equal(nw_node_type_add_direct(
                                     type, a, s, some_class(topology, random)),
                                 NW_OK);
    }
}

static void add_network(nw_topology *topology, struct nw_random *random)
{
    int32_t n = 1 + pick(random, 7);
    struct nw_network *network;

    assert_int_equal(nw_network_new(n, &network), NW_OK);
    network->parent = calloc((size_t)n, sizeof *network->parent);
    network->uplink = calloc((size_t)n, sizeof *network->uplink);
    network->parent[0] = network->uplink[0] = -1;
    for (int32_t s = 1; s < n; s++) {
        network->parent[s] = pick(random, s);
        assert_int_equal(nw_network_add_link(network, s, network->parent[s],
                                             some_class(topology, random),
                                             &network->uplink[s]),
                         NW_OK);
    }
    assert_int_equal(nw_network_finish_tree(network), NW_OK);
    nw_topology_take_network(topology, network);
}

static int32_t count_kind(const struct nw_node_type *type,
                          enum nw_vertex_kind kind)
{
    int32_t count = 0;

    for (int32_t v = 0; v < type->vertex_count; v++)
        count += type->kind[v] == kind;
    return count;
}

static void add_nodes(nw_topology *topology, struct nw_random *random)
{
    int32_t n = 1 + pick(random, 5), at = 0;
    char name[16];

    assert_int_equal(nw_topology_set_nodes(topology, n, 64 * n), NW_OK);
    for (int32_t i = 0; i < n; i++) {
        int32_t ports;

        snprintf(name, sizeof name, "n%d", (int)i);
        topology->node_name[i] = strdup(name);
        topology->node_type[i] = pick(random, topology->type_count);
        ports = count_kind(nw_topology_type_of(topology, i), NW_VERTEX_NIC);
        topology->port_first[i] = at;
        for (int32_t p = 0; p < (ports ? ports : 1); p++, at++) {
            topology->port[at] = pick(random, topology->network->switch_count);
            topology->port_class[at] = some_class(topology, random);
        }
    }
    topology->port_first[n] = at;
}

static nw_topology *random_machine(uint64_t seed)
{
    struct nw_random random;
    nw_topology *topology;
    int32_t types;

    nw_random_init(&random, seed);
    types = 1 + pick(&random, 3);
    assert_int_equal(nw_topology_new("random", &topology), NW_OK);
    for (int32_t t = 0; t < types; t++) {
        struct nw_node_type *type;

        assert_int_equal(nw_node_type_new(topology, "type", &type), NW_OK);
        add_vertices(topology, type, &random);
        if (pick(&random, 2))
            add_direct_links(topology, type, &random);
        type->staged = pick(&random, 3) == 0;
    }
    add_network(topology, &random);
    add_nodes(topology, &random);
    if (nw_topology_finish(topology, NW_ELEMENTS_CORE))
        fail_msg("seed %d: %s", (int)seed, nw_error_text());
    return topology;
}

/* --- the same machine as one graph --- */

struct graph {
    int32_t vertex_count, *first; /* first vertex of each node; switches come
                                     last */
    int32_t *a, *b;               /* ends of each link, -1 if it has none */
    bool *tree;                   /* whether the link is not a direct one */
};

static void spread_node(const nw_topology *topology, int32_t node,
                        struct graph *graph)
{
    const struct nw_node_type *type = nw_topology_type_of(topology, node);
    int32_t link = topology->link_first[node], base = graph->first[node];
    int32_t switches = graph->first[topology->node_count];
    const int32_t *port = topology->port + topology->port_first[node];

    for (int32_t v = 0; v < type->vertex_count; v++, link++) {
        bool uplink = v == 0 && type->nic_count == 0;

        graph->a[link] = v || uplink ? base + v : -1;
        graph->b[link] = v ? base + type->parent[v] : switches + port[0];
        graph->tree[link] = v || uplink;
    }
    for (int32_t d = 0; d < type->direct_count; d++, link++) {
        graph->a[link] = base + type->direct[d].a;
        graph->b[link] = base + type->direct[d].b;
    }
    for (int32_t v = 0, card = 0; v < type->vertex_count; v++)
        if (type->kind[v] == NW_VERTEX_NIC) {
            graph->a[link] = base + v;
            graph->b[link] = switches + port[card++];
            graph->tree[link++] = true;
        }
    assert_int_equal(link, topology->link_first[node + 1]);
}

static struct graph spread(const nw_topology *topology)
{
    const struct nw_network *network = topology->network;
    size_t links = (size_t)topology->link_count;
    struct graph graph = {
        .first = calloc((size_t)topology->node_count + 1, sizeof(int32_t)),
        .a = calloc(links, sizeof(int32_t)),
        .b = calloc(links, sizeof(int32_t)),
        .tree = calloc(links, sizeof(bool))};

    for (int32_t n = 0; n < topology->node_count; n++)
        graph.first[n + 1] =
            graph.first[n] + nw_topology_type_of(topology, n)->vertex_count;
    graph.vertex_count =
        graph.first[topology->node_count] + network->switch_count;
    for (int32_t l = 0; l < network->link_count; l++) {
        graph.a[l] = graph.first[topology->node_count] + network->link_a[l];
        graph.b[l] = graph.first[topology->node_count] + network->link_b[l];
        graph.tree[l] = true;
    }
    for (int32_t n = 0; n < topology->node_count; n++)
        spread_node(topology, n, &graph);
    return graph;
}

static void free_graph(struct graph *graph)
{
    free(graph->first);
    free(graph->a);
    free(graph->b);
    free(graph->tree);
}

/* Returns the least number of tree links between two vertices, or -1 if no
 * route exists. The route uses only vertices from `lowest` up to but not
 * including `limit`, so that switches can be left out. The function relaxes the
 * lengths until nothing changes. */
static int32_t search(const nw_topology *topology, const struct graph *graph,
                      int32_t from, int32_t to, int32_t lowest, int32_t limit)
{
    int32_t *steps = malloc((size_t)graph->vertex_count * sizeof *steps);
    bool changed = true;
    int32_t found;

    for (int32_t v = 0; v < graph->vertex_count; v++)
        steps[v] = v == from ? 0 : INT32_MAX / 2;
    while (changed) {
        changed = false;
        for (int32_t l = 0; l < topology->link_count; l++) {
            int32_t a = graph->a[l], b = graph->b[l];

            if (a < lowest || b < lowest || a >= limit || b >= limit ||
                !graph->tree[l])
                continue;
            if (steps[a] + 1 < steps[b]) {
                steps[b] = steps[a] + 1;
                changed = true;
            } else if (steps[b] + 1 < steps[a]) {
                steps[a] = steps[b] + 1;
                changed = true;
            }
        }
    }
    found = steps[to] == INT32_MAX / 2 ? -1 : steps[to];
    free(steps);
    return found;
}

static int32_t inside(const nw_topology *topology, const struct graph *graph,
                      int32_t node, int32_t a, int32_t b)
{
    return search(topology, graph, graph->first[node] + a,
                  graph->first[node] + b, graph->first[node],
                  graph->first[node + 1]);
}

/* Returns the number of links between two vertices if only direct links are
 * used: 1 by a direct link, 2 through a GPU switch, and 0 if they are not
 * connected. */
static int32_t direct_steps(const struct nw_node_type *type, int32_t a,
                            int32_t b)
{
    bool *at_a = calloc((size_t)type->vertex_count, sizeof *at_a);
    int32_t steps = 0;

    for (int32_t d = 0; d < type->direct_count; d++) {
        const struct nw_direct_link *link = &type->direct[d];

        if (link->a == a || link->b == a)
            at_a[link->a == a ? link->b : link->a] = true;
    }
    for (int32_t d = 0; d < type->direct_count; d++) {
        const struct nw_direct_link *link = &type->direct[d];
        int32_t middle = link->a == b ? link->b : link->a;

        if (link->a != b && link->b != b)
            continue;
        if (middle == a)
            steps = 1;
        else if (type->kind[middle] == NW_VERTEX_GPU_SWITCH && at_a[middle] &&
                 steps == 0)
            steps = 2;
    }
    free(at_a);
    return steps;
}

static int32_t staging_place(const struct nw_node_type *type, int32_t v)
{
    if (!type->staged || type->kind[v] != NW_VERTEX_GPU)
        return v;
    do
        v = type->parent[v];
    while (v && type->kind[v] != NW_VERTEX_NUMA &&
           type->kind[v] != NW_VERTEX_PACKAGE);
    return v;
}

/* The expected number of links from an end to its switch; *at_switch becomes
 * that switch. The route uses the network card that the end names, otherwise
 * the nearest card. */
static int32_t expected_out(const nw_topology *topology,
                            const struct graph *graph, struct nw_end end,
                            int32_t *at_switch)
{
    const struct nw_node_type *type = nw_topology_type_of(topology, end.node);
    int32_t place = staging_place(type, end.vertex);
    int32_t card = nw_end_card(topology, end), nearest = INT32_MAX;
    int32_t staging = inside(topology, graph, end.node, end.vertex, place);

    *at_switch = nw_topology_switch_of(topology, end.node, card);
    if (!type->nic_count)
        return staging + inside(topology, graph, end.node, place, 0) + 1;
    for (int32_t n = 0; n < type->nic_count; n++) {
        int32_t length =
            inside(topology, graph, end.node, end.vertex, type->nic[n]);

        nearest = length < nearest ? length : nearest;
    }
    if (end.nic < 0)
        assert_int_equal(
            inside(topology, graph, end.node, end.vertex, type->nic[card]),
            nearest);
    else
        assert_int_equal(card, end.nic);
    return staging + inside(topology, graph, end.node, place, type->nic[card]) +
           1;
}

static int32_t expected_distance(const nw_topology *topology,
                                 const struct graph *graph, struct nw_end a,
                                 struct nw_end b)
{
    int32_t switches = graph->first[topology->node_count], from, to, out, in;
    int32_t direct;

    if (a.node == b.node) {
        direct = direct_steps(nw_topology_type_of(topology, a.node), a.vertex,
                              b.vertex);
        return a.vertex == b.vertex ? 0
               : direct             ? direct
                        : inside(topology, graph, a.node, a.vertex, b.vertex);
    }
    out = expected_out(topology, graph, a, &from);
    in = expected_out(topology, graph, b, &to);
    return out + in +
           search(topology, graph, switches + from, switches + to, switches,
                  graph->vertex_count);
}

/* Every hop begins where the last one ended. */
static void walk(const nw_topology *topology, const struct graph *graph,
                 struct nw_end a, struct nw_end b)
{
    uint32_t *hops = malloc(nw_topology_route_max(topology) * sizeof *hops);
    size_t count = nw_topology_route(topology, a, b, hops);
    int32_t at = graph->first[a.node] + a.vertex;

    assert_true(count <= nw_topology_route_max(topology));
    assert_int_equal(count, nw_topology_distance(topology, a, b));
    for (size_t i = 0; i < count; i++) {
        int32_t link = (int32_t)(hops[i] / 2);
        bool back = hops[i] & 1;
        struct nw_link_info info = nw_topology_link(topology, link);

        if (info.half_duplex) {
            assert_false(back);
            back = graph->b[link] == at;
        }
        assert_int_equal(at, back ? graph->b[link] : graph->a[link]);
        at = back ? graph->a[link] : graph->b[link];
    }
    assert_int_equal(at, graph->first[b.node] + b.vertex);
    free(hops);
}

static struct nw_end random_end(const nw_topology *topology,
                                struct nw_random *random)
{
    int32_t node = pick(random, topology->node_count);
    int32_t gpus = nw_topology_gpu_count(topology);
    int32_t nics = nw_topology_node_nic_count(topology, node);
    int32_t kind = pick(random, 5);
    struct nw_end end;

    if (kind == 0 && nics)
        return nw_topology_nic_end(topology, node, pick(random, nics));
    end =
        kind < 3 && gpus
            ? nw_topology_gpu_end(topology, pick(random, gpus))
            : nw_topology_element_end(
                  topology, pick(random, nw_topology_element_count(topology)));
    nics = nw_topology_node_nic_count(topology, end.node);
    if (nics && pick(random, 4) == 0)
        end.nic = pick(random, nics);
    return end;
}

static void check_level(const nw_topology *topology, struct nw_end a,
                        struct nw_end b)
{
    int32_t level = nw_topology_level(topology, a, b);

    assert_true(level >= 0 && level < nw_topology_level_count(topology));
    assert_int_equal(level, nw_topology_level(topology, b, a));
    assert_true((level == 0) == (a.node == b.node && a.vertex == b.vertex));
    assert_true(a.node == b.node ||
                strstr(nw_topology_level_name(topology, level), "switch"));
}

static void routes_are_the_shortest_by_the_rules(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= MACHINES; seed++) {
        nw_topology *topology = random_machine(seed);
        struct graph graph = spread(topology);
        struct nw_random random;

        nw_random_init(&random, seed + 1000000);
        for (int i = 0; i < PAIRS; i++) {
            struct nw_end a = random_end(topology, &random);
            struct nw_end b = random_end(topology, &random);
            double distance = nw_topology_distance(topology, a, b);

            if (distance != expected_distance(topology, &graph, a, b))
                fail_msg("seed %d: %d:%d to %d:%d is %g, not %d", (int)seed,
                         a.node, a.vertex, b.node, b.vertex, distance,
                         expected_distance(topology, &graph, a, b));
            assert_true(distance == nw_topology_distance(topology, b, a));
            walk(topology, &graph, a, b);
            check_level(topology, a, b);
        }
        free_graph(&graph);
        nw_topology_free(topology);
    }
}

static void elements_and_gpus_belong_to_their_nodes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= MACHINES; seed++) {
        nw_topology *topology = random_machine(seed);
        int32_t element = 0, gpu = 0;

        for (int32_t n = 0; n < nw_topology_node_count(topology); n++) {
            struct nw_range cores = nw_topology_node_elements(topology, n);
            struct nw_range gpus = nw_topology_node_gpus(topology, n);

            assert_int_equal(cores.first, element);
            assert_int_equal(gpus.first, gpu);
            for (int32_t i = 0; i < cores.count; i++)
                assert_int_equal(nw_topology_element_node(topology, element++),
                                 n);
            for (int32_t i = 0; i < gpus.count; i++)
                assert_int_equal(nw_topology_gpu_node(topology, gpu++), n);
            assert_int_equal(nw_topology_node_find(
                                 topology, nw_topology_node_name(topology, n)),
                             n);
        }
        assert_int_equal(element, nw_topology_element_count(topology));
        assert_int_equal(gpu, nw_topology_gpu_count(topology));
        assert_int_equal(nw_topology_node_find(topology, "nobody"), -1);
        nw_topology_free(topology);
    }
}

/* The distance is the one of the lowest level that two elements share. */
static void hierarchies_keep_their_distances(void **state)
{
    nw_topology *topology;

    (void)state;
    assert_int_equal(
        nw_topology_load("hierarchy:4:8:16@1:10.5:100", NULL, &topology),
        NW_OK);
    assert_int_equal(nw_topology_element_count(topology), 512);
    assert_false(nw_topology_is_integral(topology));
    for (int32_t i = 0; i < 512; i++)
        for (int32_t j = 0; j < 512; j++) {
            double expected = i == j             ? 0
                              : i / 4 == j / 4   ? 1
                              : i / 32 == j / 32 ? 10.5
                                                 : 100;
            struct nw_end a = nw_topology_element_end(topology, i);
            struct nw_end b = nw_topology_element_end(topology, j);

            assert_true(nw_topology_distance(topology, a, b) == expected);
        }
    nw_topology_free(topology);
}

/* Without distances, links are counted: up to the common level and down. Each
 * level of the tree is counted. */
static void hierarchies_without_distances_count_links(void **state)
{
    nw_topology *topology;
    uint32_t hops[16];

    (void)state;
    assert_int_equal(nw_topology_load("hierarchy:4:8:16", NULL, &topology),
                     NW_OK);
    for (int32_t j = 0; j < 512; j++) {
        int32_t level = j == 0 ? 0 : j < 4 ? 1 : j < 32 ? 2 : 3;
        struct nw_end a = nw_topology_element_end(topology, 0);
        struct nw_end b = nw_topology_element_end(topology, j);

        assert_true(nw_topology_distance(topology, a, b) == 2 * level);
        assert_int_equal(nw_topology_route(topology, a, b, hops), 2 * level);
        assert_int_equal(nw_topology_level(topology, a, b), level);
    }
    assert_int_equal(nw_topology_level_count(topology), 4);
    nw_topology_free(topology);
}

/* A row of distances equals the single distances, also on a hierarchy, which
 * has numbers of its own; without ends, nothing is written. */
static void a_row_of_distances_is_that_of_single_ones(void **state)
{
    nw_topology *topology;
    struct nw_end to[64];
    double row[64];

    (void)state;
    assert_int_equal(nw_topology_load("hierarchy:4:16@1:10.5", NULL, &topology),
                     NW_OK);
    for (int32_t j = 0; j < 64; j++)
        to[j] = nw_topology_element_end(topology, j);
    row[0] = -1;
    nw_topology_distances(topology, to[5], to, 0, row);
    assert_true(row[0] == -1);
    nw_topology_distances(topology, to[5], to, 64, row);
    for (int32_t j = 0; j < 64; j++)
        assert_true(row[j] == (j == 5 ? 0 : j / 4 == 1 ? 1 : 10.5));
    nw_topology_free(topology);
}

/* Loading needs less than 500 MB at any time. A load that compared each core
 * with each other would still run at the time limit of the tests. */
static void a_million_cores_are_loaded(void **state)
{
    nw_topology *topology;
    struct rusage usage;

    (void)state;
    assert_int_equal(nw_topology_load("hierarchy:100:100:100", NULL, &topology),
                     NW_OK);
    assert_int_equal(nw_topology_element_count(topology), 1000000);
    getrusage(RUSAGE_SELF, &usage);
    assert_true(usage.ru_maxrss < 500000); /* kB */
    nw_topology_free(topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_cores_are_loaded),
        cmocka_unit_test(routes_are_the_shortest_by_the_rules),
        cmocka_unit_test(elements_and_gpus_belong_to_their_nodes),
        cmocka_unit_test(hierarchies_keep_their_distances),
        cmocka_unit_test(hierarchies_without_distances_count_links),
        cmocka_unit_test(a_row_of_distances_is_that_of_single_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Small machines and patterns for tests that are built without files: nodes of
 * equal shape on one switch, with GPUs below PCIe switches and a network card
 * in package 0. */
#ifndef NW_TESTS_SUPPORT_MACHINE_H
#define NW_TESTS_SUPPORT_MACHINE_H

#include "base/random.h"
#include "base/array.h"
#include "topology/topology.h"

#include <nodewise/pattern.h>
#include <stdio.h>
#include <stdlib.h>

struct shape {
    int nodes, packages, cores, switches, gpus; /* each of them per parent:
                                                   packages per node, cores
                                                   and switches per package,
                                                   GPUs per switch */
    bool staged;
};

/* The two clusters of the paper; bandwidths and latencies are of the right
 * order of magnitude. */
#define SHAPE_A                                                                \
    (struct shape)                                                             \
    {                                                                          \
        4, 2, 12, 2, 4, true                                                   \
    }
#define SHAPE_B                                                                \
    (struct shape)                                                             \
    {                                                                          \
        8, 2, 10, 2, 2, true                                                   \
    }

#define MUST(call)                                                             \
    do {                                                                       \
        if (call) {                                                            \
            fprintf(stderr, "%s: %s\n", #call, nw_error_text());               \
            abort();                                                           \
        }                                                                      \
    } while (0)

/* Adds a class of links of the given kind and bandwidth in bytes per second,
 * with the assumed latency; returns its number. */
static inline int32_t machine_class(nw_topology *topology,
                                    enum nw_link_kind kind, double bandwidth)
{
    struct nw_link_class figures = nw_link_assumed(kind);
    int32_t class;

    figures.bandwidth[0] = figures.bandwidth[1] = bandwidth;
    MUST(nw_topology_class(topology, &figures, &class));
    return class;
}

/* Adds a package with its cores, its switches and GPUs and, if `card`, a
 * network card. */
static inline void machine_package(nw_topology *topology,
                                   struct nw_node_type *type,
                                   const struct shape *shape, bool card)
{
    int32_t package, vertex, bridge;
    int32_t pcie = machine_class(topology, NW_LINK_PCIE, 10e9);

    MUST(nw_node_type_add(type, 0, NW_VERTEX_PACKAGE,
                          machine_class(topology, NW_LINK_SOCKET, 16e9),
                          &package));
    for (int c = 0; c < shape->cores; c++)
        MUST(nw_node_type_add(type, package, NW_VERTEX_CORE,
                              machine_class(topology, NW_LINK_CORE, 20e9),
                              &vertex));
    for (int s = 0; s < shape->switches; s++) {
        MUST(nw_node_type_add(type, package, NW_VERTEX_BRIDGE, pcie, &bridge));
        for (int g = 0; g < shape->gpus; g++)
            MUST(nw_node_type_add(type, bridge, NW_VERTEX_GPU, pcie, &vertex));
    }
    if (card)
        MUST(nw_node_type_add(type, package, NW_VERTEX_NIC, pcie, &vertex));
}

/* Connects all nodes to one switch, by `ports` ports each. */
static inline void machine_network(nw_topology *topology, int nodes, int ports)
{
    struct nw_network *network;

    MUST(nw_network_new(1, &network));
    MUST(nw_strdup("switch", &network->switch_name[0]));
    MUST(nw_alloc(1, sizeof *network->parent, &network->parent));
    MUST(nw_alloc(1, sizeof *network->uplink, &network->uplink));
    network->parent[0] = network->uplink[0] = -1;
    MUST(nw_network_finish_tree(network));
    nw_topology_take_network(topology, network);
    MUST(nw_topology_set_nodes(topology, nodes, nodes * ports));
    for (int n = 0; n < nodes; n++) {
        topology->node_type[n] = 0;
        topology->port_first[n + 1] = (n + 1) * ports;
    }
    for (int p = 0; p < nodes * ports; p++)
        topology->port[p] = 0;
}

/* A machine of the given shape; the caller frees it. */
static inline nw_topology *machine_new(struct shape shape)
{
    nw_topology *topology;
    struct nw_node_type *type;
    int32_t card;
    char name[16];

    MUST(nw_topology_new("machine", &topology));
    card = machine_class(topology, NW_LINK_NIC, 3.2e9);
    MUST(nw_node_type_new(topology, "node", &type));
    type->staged = shape.staged;
    for (int p = 0; p < shape.packages; p++)
        machine_package(topology, type, &shape, p == 0);
    machine_network(topology, shape.nodes, 1);
    for (int n = 0; n < shape.nodes; n++) {
        snprintf(name, sizeof name, "n%02d", n);
        MUST(nw_strdup(name, &topology->node_name[n]));
        topology->port_class[n] = card;
    }
    MUST(nw_topology_finish(topology, NW_ELEMENTS_CORE));
    return topology;
}

/* --- patterns: those of the paper at any size, and random ones --- */

static inline void pattern_pair(nw_pattern_builder *builder, int a, int b,
                                enum nw_kind kind, uint64_t bytes)
{
    MUST(nw_pattern_builder_add(builder, a, b, kind, bytes, 1));
    MUST(nw_pattern_builder_add(builder, b, a, kind, bytes, 1));
}

/* Adds a stencil of 7 points (5 points if z is 1) on a grid of x by y by z
 * ranks. The grid is in row-major order and has open boundaries. Edges along
 * the first dimension are `weight` times heavier. */
static inline void add_stencil(nw_pattern_builder *builder, enum nw_kind kind,
                               const int size[3], uint64_t weight)
{
    int step[3] = {size[1] * size[2], size[2], 1};

    for (int r = 0; r < size[0] * size[1] * size[2]; r++)
        for (int d = 0; d < 3; d++)
            if (r / step[d] % size[d] + 1 < size[d])
                pattern_pair(builder, r, r + step[d], kind,
                             (d ? 1 : weight) << 20);
}

/* Each of `groups` groups exchanges all-to-all between its `members` ranks;
 * ranks whose difference is a multiple of `groups` are in the same group. */
static inline void add_columns(nw_pattern_builder *builder, enum nw_kind kind,
                               int groups, int members)
{
    for (int g = 0; g < groups; g++)
        for (int i = 0; i < members; i++)
            for (int j = 0; j < i; j++)
                pattern_pair(builder, g + i * groups, g + j * groups, kind,
                             1 << 20);
}

/* One of the patterns of the paper at 64 ranks; which: 0 2D, 1 3D, 2 COL. */
static inline void add_suite(nw_pattern_builder *builder, enum nw_kind kind,
                             int which, uint64_t weight)
{
    if (which == 0)
        add_stencil(builder, kind, (const int[3]){8, 8, 1}, weight);
    else if (which == 1)
        add_stencil(builder, kind, (const int[3]){4, 4, 4}, weight);
    else
        add_columns(builder, kind, 16, 4);
}

/* The pattern of 64 ranks whose edges between hosts are those of pattern `host`
 * and whose edges between GPUs are those of pattern `gpu`. */
static inline nw_pattern *suite_pattern(int host, int gpu, uint64_t weight)
{
    nw_pattern_builder *builder;
    nw_pattern *pattern;

    MUST(nw_pattern_builder_new(64, &builder));
    add_suite(builder, NW_KIND_HH, host, weight);
    add_suite(builder, NW_KIND_GG, gpu, weight);
    MUST(nw_pattern_builder_build(builder, &pattern));
    nw_pattern_builder_free(builder);
    return pattern;
}

/* A pattern of `edges` random edges of 1 to 100 bytes, of the kinds whose bits
 * are set in `kinds`. */
static inline nw_pattern *random_pattern(struct nw_random *random, int ranks,
                                         int edges, unsigned kinds)
{
    nw_pattern_builder *builder;
    nw_pattern *pattern;

    MUST(nw_pattern_builder_new(ranks, &builder));
    for (int e = 0; e < edges; e++) {
        enum nw_kind kind =
            (enum nw_kind)nw_random_below(random, NW_KIND_COUNT);

        if (kinds & 1u << kind)
            MUST(nw_pattern_builder_add(
                builder, (int32_t)nw_random_below(random, (uint64_t)ranks),
                (int32_t)nw_random_below(random, (uint64_t)ranks), kind,
                1 + nw_random_below(random, 100), 1));
    }
    MUST(nw_pattern_builder_build(builder, &pattern));
    nw_pattern_builder_free(builder);
    return pattern;
}

/* A pattern of `edges` random edges between hosts with 1 to 1000 bytes each;
 * several edges between the same two ranks are merged into one. */
static inline nw_pattern *random_graph(struct nw_random *random, int32_t ranks,
                                       int32_t edges)
{
    nw_pattern_builder *builder;
    nw_pattern *pattern;

    MUST(nw_pattern_builder_new(ranks, &builder));
    for (int32_t i = 0; i < edges; i++) {
        int32_t a = (int32_t)nw_random_below(random, (uint64_t)ranks);
        int32_t b = (int32_t)nw_random_below(random, (uint64_t)ranks);

        MUST(nw_pattern_builder_add(builder, a, b, NW_KIND_HH,
                                    1 + nw_random_below(random, 1000), 1));
    }
    MUST(nw_pattern_builder_build(builder, &pattern));
    nw_pattern_builder_free(builder);
    return pattern;
}

/* The pattern of a specification as nodewise generate takes it. */
static inline nw_pattern *generate(const char *specification)
{
    nw_pattern *pattern;

    MUST(nw_pattern_generate(specification, &pattern));
    return pattern;
}

#endif

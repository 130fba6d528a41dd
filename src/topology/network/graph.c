/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores and routes any network of switches and links. The distance between two
 * switches takes one byte for each pair. A route follows the forwarding tables
 * or, without an entry there, links that reduce the distance. */
#include "base/array.h"
#include "base/status.h"
#include "topology/network/networks.h"

#include <stdlib.h>
#include <string.h>

#define APART 255 /* distance of switches that are not connected */

/* The state of a graph. `spread` is the argument of nw_network_finish_graph. */
struct graph {
    bool spread;
    uint8_t *distance; /* [to * switches + from] number of links of the shortest
                          route, or APART */
    /* [switches + 1] links of switch s: link[first[s]] to link[first[s + 1] -
     * 1] */
    int32_t *first;
    int32_t *link; /* [2 x links] links of each switch, in the order in which
                      they were added */
    /* forwarding tables if known, else NULL. via[s * ports.count + p] is the
     * link from switch s towards port p of a node; -1: unknown */
    int32_t *via;
    struct nw_graph_ports ports;
};

static const uint8_t *distances_to(const struct nw_network *network, int32_t to)
{
    const struct graph *graph = network->state;

    return graph->distance + (size_t)to * (size_t)network->switch_count;
}

/* Returns a link of switch s that reduces the distance to the destination by
 * one. If several links do, returns the first one or, if the graph spreads its
 * routes, the number of the destination node modulo their count. */
static int32_t next_link(const struct nw_network *network, int32_t s,
                         struct nw_network_end to)
{
    const struct graph *graph = network->state;
    const uint8_t *distance = distances_to(network, to.at);
    int32_t count = 0, turn = 0;

    for (int pass = graph->spread ? 0 : 1;; pass++) {
        for (int32_t i = graph->first[s]; i < graph->first[s + 1]; i++) {
            int32_t link = graph->link[i];

            if (distance[nw_network_other_end(network, link, s)] + 1 !=
                distance[s])
                continue;
            if (pass && turn-- == 0)
                return link;
            count++;
        }
        turn = to.node % (count ? count : 1);
    }
}

/* Returns the first link of the route from s to `to`: that of the forwarding
 * table, or one that reduces the distance if the graph lacks a table or the
 * table lacks an entry. */
static int32_t graph_step(const struct nw_network *network, int32_t s,
                          struct nw_network_end to)
{
    const struct graph *graph = network->state;
    int32_t link = -1;

    if (graph->via)
        link = graph->via[(size_t)s * graph->ports.count +
                          (size_t)(graph->ports.first[to.node] + to.port)];
    return link >= 0 ? link : next_link(network, s, to);
}

static int32_t graph_distance(const struct nw_network *network, int32_t from,
                              struct nw_network_end to)
{
    const struct graph *graph = network->state;
    int32_t count = 0;

    if (!graph->via)
        return distances_to(network, to.at)[from];
    for (; from != to.at; count++)
        from =
            nw_network_other_end(network, graph_step(network, from, to), from);
    return count;
}

static size_t graph_route(const struct nw_network *network, int32_t from,
                          struct nw_network_end to, uint32_t *hops)
{
    size_t count = 0;

    while (from != to.at) {
        int32_t link = graph_step(network, from, to);

        hops[count++] = 2 * (uint32_t)link + (network->link_a[link] != from);
        from = nw_network_other_end(network, link, from);
    }
    return count;
}

static nw_status graph_move_ports(const nw_topology *topology,
                                  const int32_t *from)
{
    struct graph *graph = topology->network->state;
    size_t switches = (size_t)topology->network->switch_count;
    struct nw_graph_ports ports = {0};
    int32_t *via = NULL;
    nw_status status;

    if (!graph->via)
        return NW_OK;
    status = nw_graph_copy_ports(topology, &ports);
    if (!status)
        status = nw_alloc(switches * ports.count, sizeof *via, &via);
    for (size_t s = 0; !status && s < switches; s++)
        for (size_t p = 0; p < ports.count; p++)
            via[s * ports.count + p] =
                graph->via[s * graph->ports.count + (size_t)from[p]];
    if (status) {
        free(ports.first);
        free(ports.at);
        return status;
    }
    free(graph->via);
    free(graph->ports.first);
    free(graph->ports.at);
    graph->via = via;
    graph->ports = ports;
    return NW_OK;
}

static void free_graph(void *state)
{
    struct graph *graph = state;

    free(graph->distance);
    free(graph->first);
    free(graph->link);
    free(graph->via);
    free(graph->ports.first);
    free(graph->ports.at);
    free(graph);
}

static const struct nw_network_ops graph_ops = {
    .name = "graph",
    .distance = graph_distance,
    .route = graph_route,
    .move_ports = graph_move_ports,
    .free_state = free_graph,
};

bool nw_graph_spreads(const struct nw_network *network)
{
    const struct graph *graph = network->state;

    return graph->spread;
}

size_t nw_graph_links(const struct nw_network *network, int32_t s,
                      const int32_t **out)
{
    const struct graph *graph = network->state;

    *out = graph->link + graph->first[s];
    return (size_t)(graph->first[s + 1] - graph->first[s]);
}

static nw_status list_links(const struct nw_network *network,
                            struct graph *graph)
{
    size_t n = (size_t)network->switch_count;
    nw_status status = nw_alloc(n + 2, sizeof *graph->first, &graph->first);

    if (!status)
        status = nw_alloc(2 * (size_t)network->link_count, sizeof *graph->link,
                          &graph->link);
    if (status)
        return status;
    /* first[s + 1] becomes the start of s; filling the lists then moves it to
     * the end of s, which is the start of s + 1 */
    for (int32_t l = 0; l < network->link_count; l++) {
        graph->first[network->link_a[l] + 2]++;
        graph->first[network->link_b[l] + 2]++;
    }
    for (size_t s = 2; s <= n + 1; s++)
        graph->first[s] += graph->first[s - 1];
    for (int32_t l = 0; l < network->link_count; l++) {
        graph->link[graph->first[network->link_a[l] + 1]++] = l;
        graph->link[graph->first[network->link_b[l] + 1]++] = l;
    }
    return NW_OK;
}

/* Finds the distances of all switches from `source` by breadth-first search.
 * `queue` has an entry for each switch. At the end, its first *reached entries
 * are the switches that were found. Returns the largest distance, or APART if
 * it is more than 253. */
static int graph_flood(const struct nw_network *network, int32_t source,
                       int32_t *queue, int32_t *reached)
{
    const struct graph *graph = network->state;
    uint8_t *distance =
        graph->distance + (size_t)source * (size_t)network->switch_count;
    int32_t head = 0, tail = 0;
    int farthest;

    memset(distance, APART, (size_t)network->switch_count);
    distance[source] = 0;
    queue[tail++] = source;
    while (head < tail && tail < network->switch_count) {
        int32_t s = queue[head++];

        if (distance[s] == APART - 1)
            return APART;
        for (int32_t i = graph->first[s]; i < graph->first[s + 1]; i++) {
            int32_t next = nw_network_other_end(network, graph->link[i], s);

            if (distance[next] != APART)
                continue;
            distance[next] = (uint8_t)(distance[s] + 1);
            queue[tail++] = next;
        }
    }
    *reached = tail;
    farthest = distance[queue[tail - 1]];
    return farthest == APART - 1 ? APART : farthest;
}

/* Gives the switches in `queue` the number of a new connected part, unless they
 * already belong to one. */
static void mark_part(struct nw_network *network, const int32_t *queue,
                      int32_t reached)
{
    if (network->component[queue[0]] >= 0)
        return;
    for (int32_t i = 0; i < reached; i++)
        network->component[queue[i]] = network->component_count;
    network->component_count++;
}

static nw_status flood_all(struct nw_network *network, int32_t *queue)
{
    network->diameter = 0;
    for (int32_t s = 0; s < network->switch_count; s++) {
        int32_t reached = 0;
        int farthest = graph_flood(network, s, queue, &reached);

        if (farthest == APART)
            return nw_fail(NW_EFORMAT,
                           "some switch is more than 253 links away from '%s'",
                           network->switch_name[s]);
        mark_part(network, queue, reached);
        if (farthest > network->diameter)
            network->diameter = farthest;
    }
    return NW_OK;
}

static nw_status find_distances(struct nw_network *network)
{
    struct graph *graph = network->state;
    size_t n = (size_t)network->switch_count;
    int32_t *queue = NULL;
    nw_status status = nw_alloc(n * n, 1, &graph->distance);

    if (!status)
        status = nw_alloc(n, sizeof *network->component, &network->component);
    if (!status)
        status = nw_alloc(n, sizeof *queue, &queue);
    if (status)
        return status;
    for (size_t s = 0; s < n; s++)
        network->component[s] = -1;
    status = flood_all(network, queue);
    free(queue);
    if (!status && network->component_count == 1) {
        free(network->component);
        network->component = NULL;
    }
    return status;
}

nw_status nw_network_finish_graph(struct nw_network *network, bool spread)
{
    struct graph *graph;
    nw_status status;

    if (network->switch_count > NW_GRAPH_MAX_SWITCHES)
        return nw_fail(NW_EFORMAT, "a graph of more than %d switches",
                       NW_GRAPH_MAX_SWITCHES);
    status = nw_alloc(1, sizeof *graph, &graph);
    if (status)
        return status;
    graph->spread = spread;
    network->ops = &graph_ops;
    network->state = graph;
    status = list_links(network, graph);
    return status ? status : find_distances(network);
}

/* The routes to one port by the tables. length[s] is the number of links from
 * switch s. It is UNKNOWN at first, and ON_ROUTE while a route through s is
 * followed. path[] has the switches of that route. */
struct graph_lengths {
    int32_t *length, *path; /* [switches] */
};
enum { UNKNOWN = -1, ON_ROUTE = -2 };

/* Follows the route from s towards a port until a switch with a known length,
 * and sets the lengths of the switches on the route. Returns -1, or a switch of
 * a loop if the route runs into one. */
static int32_t graph_follow(const struct nw_network *network, int32_t s,
                            struct nw_network_end to,
                            const struct graph_lengths *lengths)
{
    int32_t count = 0, length;

    while (lengths->length[s] == UNKNOWN) {
        lengths->length[s] = ON_ROUTE;
        lengths->path[count++] = s;
        s = nw_network_other_end(network, graph_step(network, s, to), s);
    }
    if (lengths->length[s] == ON_ROUTE)
        return s;
    for (length = lengths->length[s]; count;)
        lengths->length[lengths->path[--count]] = ++length;
    return -1;
}

static nw_status check_column(struct nw_network *network,
                              struct nw_network_end to,
                              const struct graph_lengths *lengths)
{
    const uint8_t *distance = distances_to(network, to.at);

    for (int32_t s = 0; s < network->switch_count; s++)
        lengths->length[s] = s == to.at ? 0 : UNKNOWN;
    for (int32_t s = 0; s < network->switch_count; s++) {
        int32_t round;

        if (distance[s] == APART)
            continue;
        round = graph_follow(network, s, to, lengths);
        if (round >= 0)
            return nw_fail(NW_EFORMAT,
                           "the forwarding tables go round in circles at "
                           "switch '%s'",
                           network->switch_name[round]);
        if (lengths->length[s] > network->diameter)
            network->diameter = lengths->length[s];
    }
    return NW_OK;
}

nw_status nw_graph_copy_ports(const nw_topology *topology,
                              struct nw_graph_ports *ports)
{
    size_t nodes = (size_t)topology->node_count;
    nw_status status;

    ports->nodes = topology->node_count;
    ports->count = (size_t)topology->port_first[nodes];
    status = nw_alloc(nodes + 1, sizeof *ports->first, &ports->first);
    if (!status)
        status = nw_alloc(ports->count, sizeof *ports->at, &ports->at);
    if (status)
        return status;
    memcpy(ports->first, topology->port_first,
           (nodes + 1) * sizeof *ports->first);
    memcpy(ports->at, topology->port, ports->count * sizeof *ports->at);
    return NW_OK;
}

nw_status nw_graph_set_tables(struct nw_network *network,
                              struct nw_graph_ports *ports, int32_t *via)
{
    struct graph *graph = network->state;
    size_t switches = (size_t)network->switch_count;
    struct graph_lengths lengths = {0};
    nw_status status =
        nw_alloc(switches, sizeof *lengths.length, &lengths.length);

    if (!status)
        status = nw_alloc(switches, sizeof *lengths.path, &lengths.path);
    graph->via = via;
    graph->ports = *ports;
    for (int32_t n = 0; !status && n < ports->nodes; n++)
        for (int32_t c = ports->first[n]; !status && c < ports->first[n + 1];
             c++)
            status = check_column(
                network,
                (struct nw_network_end){ports->at[c], n, c - ports->first[n]},
                &lengths);
    free(lengths.length);
    free(lengths.path);
    return status;
}

const int32_t *nw_graph_tables(const struct nw_network *network,
                               const struct nw_graph_ports **ports)
{
    const struct graph *graph = network->state;

    *ports = &graph->ports;
    return graph->via;
}

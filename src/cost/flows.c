/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums bytes over links by sums over the trees of nodes; flows.h describes the
 * method. */
#include "cost/flows.h"
#include "base/array.h"
#include "base/parallel.h"

#include <stdlib.h>

/* Computes the latency from every vertex of a node up to the root of the node's
 * tree. */
static void flows_climb(struct nw_flows *flows, int32_t node)
{
    const struct nw_node_type *type =
        nw_topology_type_of(flows->topology, node);
    int32_t first = flows->topology->link_first[node];

    for (int32_t v = 1; v < type->vertex_count; v++)
        if (type->parent[v] >= 0)
            flows->above[first + v] = flows->above[first + type->parent[v]] +
                                      flows->latency[first + v];
}

static void read_latencies(void *user, int32_t part)
{
    const struct nw_flows *flows = user;
    struct nw_parallel_range mine =
        nw_parallel_range(nw_topology_link_count(flows->topology), part);

    for (int32_t l = (int32_t)mine.first; l < mine.end; l++)
        flows->latency[l] = nw_topology_link(flows->topology, l).latency;
}

static nw_status find_latencies(struct nw_flows *flows)
{
    const nw_topology *topology = flows->topology;
    size_t links = (size_t)nw_topology_link_count(topology);
    nw_status status =
        nw_alloc_raw(links, sizeof *flows->latency, &flows->latency);

    if (!status)
        status = nw_alloc(links, sizeof *flows->above, &flows->above);
    if (!status)
        nw_parallel_run(read_latencies, flows, NW_PARALLEL_RANGES,
                        flows->threads);
    for (int32_t node = 0; !status && node < topology->node_count; node++)
        flows_climb(flows, node);
    return status;
}

static nw_status alloc_layer(struct nw_flows *flows, int layer)
{
    size_t links = (size_t)nw_topology_link_count(flows->topology);
    nw_uint128 **sums[] = {&flows->begun[layer], &flows->ended[layer],
                           &flows->turned[layer]};
    nw_status status = nw_parallel_alloc(2 * links, sizeof(nw_uint128),
                                         flows->threads, &flows->hop[layer]);

    for (size_t i = 0; !status && i < sizeof sums / sizeof *sums; i++)
        status =
            nw_parallel_alloc(links, sizeof **sums[i], flows->threads, sums[i]);
    return status;
}

nw_status nw_flows_init(struct nw_flows *flows, const nw_topology *topology,
                        const bool used[NW_FLOW_LAYERS],
                        const struct nw_flows *first)
{
    nw_status status = NW_OK;

    *flows = (struct nw_flows){.topology = topology, .threads = flows->threads};
    if (first) {
        flows->latency = first->latency;
        flows->above = first->above;
        flows->borrows = true;
    } else {
        status = find_latencies(flows);
    }
    for (int i = 0; !status && i < NW_FLOW_LAYERS; i++) {
        flows->used[i] = used[i];
        if (used[i])
            status = alloc_layer(flows, i);
    }
    return status;
}

static void flows_add_all(nw_uint128 *to, const nw_uint128 *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] += from[i];
}

void nw_flows_merge(struct nw_flows *to, const struct nw_flows *from)
{
    size_t links = (size_t)nw_topology_link_count(to->topology);

    for (int i = 0; i < NW_FLOW_LAYERS; i++) {
        if (!to->used[i])
            continue;
        flows_add_all(to->hop[i], from->hop[i], 2 * links);
        flows_add_all(to->begun[i], from->begun[i], links);
        flows_add_all(to->ended[i], from->ended[i], links);
        flows_add_all(to->turned[i], from->turned[i], links);
    }
}

void nw_flows_fini(struct nw_flows *flows)
{
    if (!flows->borrows) {
        free(flows->latency);
        free(flows->above);
    }
    for (int i = 0; i < NW_FLOW_LAYERS; i++) {
        free(flows->hop[i]);
        free(flows->begun[i]);
        free(flows->ended[i]);
        free(flows->turned[i]);
    }
    *flows = (struct nw_flows){0};
}

/* Records a message at the vertices of a span, and returns the latency of the
 * span. */
static double flows_add_span(struct nw_flows *flows, int layer,
                             const struct nw_span *span, uint64_t bytes)
{
    size_t first = (size_t)flows->topology->link_first[span->node];
    size_t from = first + (size_t)span->from, to = first + (size_t)span->to;
    size_t top = first + (size_t)span->top;

    flows->begun[layer][from] += bytes;
    flows->ended[layer][to] += bytes;
    flows->turned[layer][top] += bytes;
    return flows->above[from] + flows->above[to] - 2 * flows->above[top];
}

double nw_flows_add(struct nw_flows *flows, int layer,
                    const struct nw_trail *trail, const uint32_t *hops,
                    uint64_t bytes)
{
    double latency = 0;

    for (int i = 0; i < trail->span_count; i++)
        latency += flows_add_span(flows, layer, &trail->span[i], bytes);
    for (size_t i = 0; i < trail->hop_count; i++) {
        flows->hop[layer][hops[i]] += bytes;
        latency += flows->latency[hops[i] / 2];
    }
    return latency;
}

/* The computation of the loads of one layer, or of all layers if `layer` is
 * NW_FLOW_LAYERS. */
struct loading {
    const struct nw_flows *flows;
    int layer;
    double *load;
};

/* Sums from the leaves up; children have larger numbers than their parents.
 * `ways` holds the bytes that begin at each vertex. Bytes that begin below a
 * vertex and do not turn there go up through the link above the vertex. The
 * function is also called with the bytes that end at each vertex, and then
 * gives the bytes that come down through each link. */
static void sum_node(const struct loading *loading, int32_t node,
                     nw_uint128 *ways)
{
    const nw_topology *topology = loading->flows->topology;
    const struct nw_node_type *type = nw_topology_type_of(topology, node);
    const nw_uint128 *turned = loading->flows->turned[loading->layer];
    size_t first = (size_t)topology->link_first[node];

    for (int32_t v = type->vertex_count - 1; v > 0; v--) {
        size_t link = first + (size_t)v;

        if (type->parent[v] < 0)
            continue;
        ways[link] -= turned[link];
        ways[first + (size_t)type->parent[v]] += ways[link];
    }
}

/* Sums the nodes of one part in one direction: up for even `i`, down for odd
 * `i`. */
static void sum_part(void *user, int32_t i)
{
    const struct loading *loading = user;
    const struct nw_flows *flows = loading->flows;
    struct nw_parallel_range mine =
        nw_parallel_range(flows->topology->node_count, i / 2);
    nw_uint128 *ways =
        i % 2 ? flows->ended[loading->layer] : flows->begun[loading->layer];

    for (int32_t node = (int32_t)mine.first; node < mine.end; node++)
        sum_node(loading, node, ways);
}

/* After sum_part, adds the bytes of a node's tree links to the bytes of routes
 * outside trees. Only links from `from` to `to` - 1 are changed, since each
 * thread has a range of links. */
static void flows_carry(const struct loading *loading, int32_t node,
                        int64_t from, int64_t to)
{
    const struct nw_flows *flows = loading->flows;
    const nw_topology *topology = flows->topology;
    const struct nw_node_type *type = nw_topology_type_of(topology, node);
    const nw_uint128 *up = flows->begun[loading->layer];
    const nw_uint128 *down = flows->ended[loading->layer];
    nw_uint128 *hop = flows->hop[loading->layer];
    int64_t first = topology->link_first[node];
    int64_t v = from > first ? from - first : 1;

    for (; v < type->vertex_count && first + v < to; v++) {
        int32_t link = (int32_t)(first + v), class = type->class[v];

        if (type->parent[v] < 0)
            continue;
        hop[nw_topology_hop(topology, class, link, 0)] += up[link];
        hop[nw_topology_hop(topology, class, link, 1)] += down[link];
    }
}

static void carry_part(void *user, int32_t part)
{
    const struct loading *loading = user;
    const nw_topology *topology = loading->flows->topology;
    struct nw_parallel_range mine =
        nw_parallel_range(nw_topology_link_count(topology), part);

    for (int32_t node = 0; node < topology->node_count; node++)
        flows_carry(loading, node, mine.first, mine.end);
}

/* Stores the loads of one part of the links. */
static void flows_load_part(void *user, int32_t part)
{
    const struct loading *loading = user;
    const struct nw_flows *flows = loading->flows;
    struct nw_parallel_range mine = nw_parallel_range(
        2 * (int64_t)nw_topology_link_count(flows->topology), part);

    for (int64_t i = mine.first; i < mine.end; i++) {
        nw_uint128 sum = 0;

        for (int l = 0; l < NW_FLOW_LAYERS; l++)
            if (flows->used[l] &&
                (l == loading->layer || loading->layer == NW_FLOW_LAYERS))
                sum += flows->hop[l][i];
        loading->load[i] = (double)sum;
    }
}

void nw_flows_load(struct nw_flows *flows, int layer, double *load)
{
    struct loading loading = {flows, layer, load};

    if (layer < NW_FLOW_LAYERS && !flows->used[layer])
        return;
    if (layer < NW_FLOW_LAYERS) {
        nw_parallel_run(sum_part, &loading, 2 * NW_PARALLEL_RANGES,
                        flows->threads);
        nw_parallel_run(carry_part, &loading, NW_PARALLEL_RANGES,
                        flows->threads);
    }
    nw_parallel_run(flows_load_part, &loading, NW_PARALLEL_RANGES,
                    flows->threads);
}

int nw_flows_only(const struct nw_flows *flows)
{
    int only = -1;

    for (int l = 0; l < NW_FLOW_LAYERS; l++)
        if (flows->used[l]) {
            if (only >= 0)
                return -1;
            only = l;
        }
    return only;
}

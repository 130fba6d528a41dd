/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums bytes over links by sums over the trees of nodes; link_bytes.h describes
 * the method. */
#include "cost/link_bytes.h"
#include "base/array.h"
#include "base/parallel.h"

#include <stdlib.h>

/* Computes the latency from every vertex of a node up to the root of the node's
 * tree. */
static void link_bytes_climb(struct nw_link_bytes *link_bytes, int32_t node)
{
    const struct nw_node_type *type =
        nw_topology_type_of(link_bytes->topology, node);
    int32_t first = link_bytes->topology->link_first[node];

    for (int32_t v = 1; v < type->vertex_count; v++)
        if (type->parent[v] >= 0)
            link_bytes->above[first + v] =
                link_bytes->above[first + type->parent[v]] +
                link_bytes->latency[first + v];
}

static void read_latencies(void *user, int32_t part)
{
    const struct nw_link_bytes *link_bytes = user;
    struct nw_parallel_range mine =
        nw_parallel_range(nw_topology_link_count(link_bytes->topology), part);

    for (int32_t l = (int32_t)mine.first; l < mine.end; l++)
        link_bytes->latency[l] =
            nw_topology_link(link_bytes->topology, l).latency;
}

static nw_status find_latencies(struct nw_link_bytes *link_bytes)
{
    const nw_topology *topology = link_bytes->topology;
    size_t links = (size_t)nw_topology_link_count(topology);
    nw_status status =
        nw_alloc_raw(links, sizeof *link_bytes->latency, &link_bytes->latency);

    if (!status)
        status = nw_alloc(links, sizeof *link_bytes->above, &link_bytes->above);
    if (!status)
        nw_parallel_run(read_latencies, link_bytes, NW_PARALLEL_RANGES,
                        link_bytes->threads);
    for (int32_t node = 0; !status && node < topology->node_count; node++)
        link_bytes_climb(link_bytes, node);
    return status;
}

static nw_status alloc_layer(struct nw_link_bytes *link_bytes, int layer)
{
    size_t links = (size_t)nw_topology_link_count(link_bytes->topology);
    nw_uint128 **sums[] = {&link_bytes->begun[layer], &link_bytes->ended[layer],
                           &link_bytes->turned[layer]};
    nw_status status =
        nw_parallel_alloc(2 * links, sizeof(nw_uint128), link_bytes->threads,
                          &link_bytes->hop[layer]);

    for (size_t i = 0; !status && i < sizeof sums / sizeof *sums; i++)
        status = nw_parallel_alloc(links, sizeof **sums[i], link_bytes->threads,
                                   sums[i]);
    return status;
}

nw_status nw_link_bytes_init(struct nw_link_bytes *link_bytes,
                             const nw_topology *topology,
                             const bool used[NW_FLOW_LAYERS],
                             const struct nw_link_bytes *first)
{
    nw_status status = NW_OK;

    *link_bytes = (struct nw_link_bytes){.topology = topology,
                                         .threads = link_bytes->threads};
    if (first) {
        link_bytes->latency = first->latency;
        link_bytes->above = first->above;
        link_bytes->borrows = true;
    } else {
        status = find_latencies(link_bytes);
    }
    for (int i = 0; !status && i < NW_FLOW_LAYERS; i++) {
        link_bytes->used[i] = used[i];
        if (used[i])
            status = alloc_layer(link_bytes, i);
    }
    return status;
}

static void link_bytes_add_all(nw_uint128 *to, const nw_uint128 *from,
                               size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] += from[i];
}

void nw_link_bytes_merge(struct nw_link_bytes *to,
                         const struct nw_link_bytes *from)
{
    size_t links = (size_t)nw_topology_link_count(to->topology);

    for (int i = 0; i < NW_FLOW_LAYERS; i++) {
        if (!to->used[i])
            continue;
        link_bytes_add_all(to->hop[i], from->hop[i], 2 * links);
        link_bytes_add_all(to->begun[i], from->begun[i], links);
        link_bytes_add_all(to->ended[i], from->ended[i], links);
        link_bytes_add_all(to->turned[i], from->turned[i], links);
    }
}

void nw_link_bytes_fini(struct nw_link_bytes *link_bytes)
{
    if (!link_bytes->borrows) {
        free(link_bytes->latency);
        free(link_bytes->above);
    }
    for (int i = 0; i < NW_FLOW_LAYERS; i++) {
        free(link_bytes->hop[i]);
        free(link_bytes->begun[i]);
        free(link_bytes->ended[i]);
        free(link_bytes->turned[i]);
    }
    *link_bytes = (struct nw_link_bytes){0};
}

/* Records a message at the vertices of a segment, and returns the latency of
 * the segment. */
static double link_bytes_add_segment(struct nw_link_bytes *link_bytes,
                                     int layer,
                                     const struct nw_segment *segment,
                                     uint64_t bytes)
{
    size_t first = (size_t)link_bytes->topology->link_first[segment->node];
    size_t from = first + (size_t)segment->from,
           to = first + (size_t)segment->to;
    size_t top = first + (size_t)segment->top;

    link_bytes->begun[layer][from] += bytes;
    link_bytes->ended[layer][to] += bytes;
    link_bytes->turned[layer][top] += bytes;
    return link_bytes->above[from] + link_bytes->above[to] -
           2 * link_bytes->above[top];
}

double nw_link_bytes_add(struct nw_link_bytes *link_bytes, int layer,
                         const struct nw_path *path, const uint32_t *hops,
                         uint64_t bytes)
{
    double latency = 0;

    for (int i = 0; i < path->segment_count; i++)
        latency +=
            link_bytes_add_segment(link_bytes, layer, &path->segment[i], bytes);
    for (size_t i = 0; i < path->hop_count; i++) {
        link_bytes->hop[layer][hops[i]] += bytes;
        latency += link_bytes->latency[hops[i] / 2];
    }
    return latency;
}

/* The computation of the loads of one layer, or of all layers if `layer` is
 * NW_FLOW_LAYERS. */
struct loading {
    const struct nw_link_bytes *link_bytes;
    int layer;
    double *load;
};

/* Sums from the leaves up; children have larger numbers than their parents.
 * `bytes` holds the bytes that begin at each vertex. Bytes that begin below a
 * vertex and do not turn there go up through the link above the vertex. The
 * function is also called with the bytes that end at each vertex, and then
 * gives the bytes that come down through each link. */
static void sum_node(const struct loading *loading, int32_t node,
                     nw_uint128 *bytes)
{
    const nw_topology *topology = loading->link_bytes->topology;
    const struct nw_node_type *type = nw_topology_type_of(topology, node);
    const nw_uint128 *turned = loading->link_bytes->turned[loading->layer];
    size_t first = (size_t)topology->link_first[node];

    for (int32_t v = type->vertex_count - 1; v > 0; v--) {
        size_t link = first + (size_t)v;

        if (type->parent[v] < 0)
            continue;
        bytes[link] -= turned[link];
        bytes[first + (size_t)type->parent[v]] += bytes[link];
    }
}

/* Sums the nodes of one part in one direction: up for even `i`, down for odd
 * `i`. */
static void sum_part(void *user, int32_t i)
{
    const struct loading *loading = user;
    const struct nw_link_bytes *link_bytes = loading->link_bytes;
    struct nw_parallel_range mine =
        nw_parallel_range(link_bytes->topology->node_count, i / 2);
    nw_uint128 *bytes = i % 2 ? link_bytes->ended[loading->layer]
                              : link_bytes->begun[loading->layer];

    for (int32_t node = (int32_t)mine.first; node < mine.end; node++)
        sum_node(loading, node, bytes);
}

/* Adds the bytes that sum_part computed for the tree links of a node to
 * link_bytes->hop[], which holds the bytes of routes outside trees. Changes
 * only links `from` to `to` - 1, because each thread has a range of links of
 * its own. */
static void link_bytes_carry(const struct loading *loading, int32_t node,
                             int64_t from, int64_t to)
{
    const struct nw_link_bytes *link_bytes = loading->link_bytes;
    const nw_topology *topology = link_bytes->topology;
    const struct nw_node_type *type = nw_topology_type_of(topology, node);
    const nw_uint128 *up = link_bytes->begun[loading->layer];
    const nw_uint128 *down = link_bytes->ended[loading->layer];
    nw_uint128 *hop = link_bytes->hop[loading->layer];
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
    const nw_topology *topology = loading->link_bytes->topology;
    struct nw_parallel_range mine =
        nw_parallel_range(nw_topology_link_count(topology), part);

    for (int32_t node = 0; node < topology->node_count; node++)
        link_bytes_carry(loading, node, mine.first, mine.end);
}

/* Stores the loads of one part of the links. */
static void link_bytes_load_part(void *user, int32_t part)
{
    const struct loading *loading = user;
    const struct nw_link_bytes *link_bytes = loading->link_bytes;
    struct nw_parallel_range mine = nw_parallel_range(
        2 * (int64_t)nw_topology_link_count(link_bytes->topology), part);

    for (int64_t i = mine.first; i < mine.end; i++) {
        nw_uint128 sum = 0;

        for (int l = 0; l < NW_FLOW_LAYERS; l++)
            if (link_bytes->used[l] &&
                (l == loading->layer || loading->layer == NW_FLOW_LAYERS))
                sum += link_bytes->hop[l][i];
        loading->load[i] = (double)sum;
    }
}

void nw_link_bytes_load(struct nw_link_bytes *link_bytes, int layer,
                        double *load)
{
    struct loading loading = {link_bytes, layer, load};

    if (layer < NW_FLOW_LAYERS && !link_bytes->used[layer])
        return;
    if (layer < NW_FLOW_LAYERS) {
        nw_parallel_run(sum_part, &loading, 2 * NW_PARALLEL_RANGES,
                        link_bytes->threads);
        nw_parallel_run(carry_part, &loading, NW_PARALLEL_RANGES,
                        link_bytes->threads);
    }
    nw_parallel_run(link_bytes_load_part, &loading, NW_PARALLEL_RANGES,
                    link_bytes->threads);
}

int nw_link_bytes_only(const struct nw_link_bytes *link_bytes)
{
    int only = -1;

    for (int l = 0; l < NW_FLOW_LAYERS; l++)
        if (link_bytes->used[l]) {
            if (only >= 0)
                return -1;
            only = l;
        }
    return only;
}

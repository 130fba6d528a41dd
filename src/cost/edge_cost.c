/* SPDX-License-Identifier: BSD-3-Clause */
/* Visits every edge once and adds its bytes and messages to hop-bytes, levels,
 * latency and links. */
#include "cost/edge_cost.h"
#include "base/array.h"
#include "base/parallel.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

#define SLICE_LEAST 65536 /* minimum number of edges of a slice */

static int layer_of(uint8_t kind)
{
    static const int layers[] = {NW_FLOW_HOST, NW_FLOW_GPU, NW_FLOW_MIXED,
                                 NW_FLOW_MIXED};

    return layers[kind];
}

/* Returns the first rank whose edges begin at index `edge` or later. */
static int32_t rank_at(const nw_pattern *pattern, size_t edge)
{
    int32_t low = 0, high = pattern->rank_count;

    while (low < high) {
        int32_t middle = low + (high - low) / 2;

        if (pattern->row[middle] < edge)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Divides the ranks into slices with about equal numbers of edges. */
static void cut_slices(struct nw_edge_cost_common *of)
{
    size_t edges = of->pattern->edge_count, count = edges / SLICE_LEAST;

    if (count < 1)
        count = 1;
    if (count > NW_SLICES_MOST)
        count = NW_SLICES_MOST;
    of->slices = (int32_t)count;
    for (size_t i = 1; i < count; i++)
        of->first[i] = rank_at(of->pattern, edges / count * i);
    of->first[count] = of->pattern->rank_count;
}

/* Finds the layers that the pattern uses. It compares the kinds of eight edges
 * at once, because most large patterns have only host messages (kind 0). */
static void find_layers(struct nw_edge_cost_common *of)
{
    const uint8_t *kind = of->pattern->kind;
    size_t edges = of->pattern->edge_count, e = 0;

    for (uint64_t eight; e + sizeof eight <= edges; e += sizeof eight) {
        memcpy(&eight, kind + e, sizeof eight);
        if (eight)
            break;
        of->used[layer_of(NW_KIND_HH)] = true;
    }
    for (; e < edges; e++)
        of->used[layer_of(kind[e])] = true;
}

nw_status nw_edge_cost_common_init(struct nw_edge_cost_common *of)
{
    of->integral = nw_topology_is_integral(of->topology);
    of->has_links = nw_topology_has_links(of->topology);
    find_layers(of);
    cut_slices(of);
    return nw_intranode_types_init(&of->intranode_types, of->topology);
}

void nw_edge_cost_common_fini(struct nw_edge_cost_common *of)
{
    nw_intranode_types_fini(&of->intranode_types);
    nw_endpoints_fini(&of->ends);
}

/* Allocates the share's sums over links before their first use. */
static nw_status open_link_bytes(struct nw_edge_cost *share)
{
    const struct nw_edge_cost_common *of = share->of;

    if (share->has_link_bytes || !of->has_links)
        return NW_OK;
    share->has_link_bytes = true;
    share->link_bytes.threads = of->threads;
    return nw_link_bytes_init(&share->link_bytes, of->topology, of->used,
                              share->first ? &share->first->link_bytes : NULL);
}

nw_status nw_edge_cost_init(struct nw_edge_cost *share,
                            struct nw_edge_cost_common *of,
                            const struct nw_edge_cost *first)
{
    size_t levels = (size_t)nw_topology_level_count(of->topology);
    nw_status status;

    *share = (struct nw_edge_cost){.of = of, .first = first};
    status = nw_alloc(nw_topology_route_max(of->topology), sizeof *share->hops,
                      &share->hops);
    for (int i = 0; !status && i < 2; i++) {
        status = nw_alloc(levels, sizeof(uint64_t), &share->level_bytes[i]);
        if (!status)
            status =
                nw_alloc(levels, sizeof(uint64_t), &share->level_messages[i]);
    }
    if (!status && of->used[NW_FLOW_HOST])
        status =
            nw_intranode_init(&share->intranode, of->topology,
                              &of->intranode_types, first ? 1 : of->threads);
    return status || first ? status : open_link_bytes(share);
}

void nw_edge_cost_fini(struct nw_edge_cost *share)
{
    free(share->hops);
    for (int i = 0; i < 2; i++) {
        free(share->level_bytes[i]);
        free(share->level_messages[i]);
    }
    nw_link_bytes_fini(&share->link_bytes);
    nw_intranode_fini(&share->intranode);
    *share = (struct nw_edge_cost){0};
}

static nw_status add_hop_bytes(struct nw_edge_cost *share, int layer,
                               uint64_t bytes, double distance)
{
    nw_uint128 product;

    if (!share->of->integral) {
        share->of->value[share->slice][layer] += (double)bytes * distance;
        return NW_OK;
    }
    product = (nw_uint128)bytes * (uint64_t)distance;
    if (__builtin_add_overflow(share->exact[layer], product,
                               &share->exact[layer]))
        return nw_fail_about(NW_SUMMED, NW_EFORMAT, "hop-bytes pass 2^128");
    return NW_OK;
}

static nw_status edge_cost_add_level(struct nw_edge_cost *share, int layer,
                                     int32_t level, const uint64_t amount[2])
{
    uint64_t *sum[2] = {&share->level_bytes[layer][level],
                        &share->level_messages[layer][level]};

    for (int i = 0; i < 2; i++)
        if (__builtin_add_overflow(*sum[i], amount[i], sum[i]))
            return nw_fail_about(NW_SUMMED, NW_EFORMAT,
                                 "%s of one level pass 2^64",
                                 i ? "the messages" : "the bytes");
    return NW_OK;
}

/* Adds the hop-bytes, level and latency of messages that all have the path
 * `path`. `amount` has bytes and messages; `latency` is that of one message in
 * s. If the topology has only distances, the distance replaces the latency. */
static nw_status edge_cost_add_path(struct nw_edge_cost *share, int layer,
                                    const struct nw_path *path,
                                    const uint64_t amount[2], double latency)
{
    const nw_topology *topology = share->of->topology;
    nw_status status = add_hop_bytes(share, layer, amount[0], path->distance);

    if (!status)
        status = edge_cost_add_level(share, layer != NW_FLOW_HOST, path->level,
                                     amount);
    if (topology->matrix || topology->depth_distance)
        latency = path->distance;
    share->of->latency[share->slice] += (double)amount[1] * latency;
    return status;
}

/* Adds messages by following the routes of the equal parts into which they are
 * divided over NICs; most messages have one part. */
static nw_status add_far(struct nw_edge_cost *share, int layer,
                         const struct nw_end ends[2], const uint64_t amount[2])
{
    const nw_topology *topology = share->of->topology;
    int32_t stripes = nw_topology_stripe_count(topology, ends[0], ends[1]);
    struct nw_path path;
    double latency = 0;
    nw_status status = open_link_bytes(share);

    if (status)
        return status;
    for (int32_t i = stripes; i-- > 0;) { /* `path` stays that of part 0 */
        struct nw_end part[2] = {nw_end_stripe(ends[0], i),
                                 nw_end_stripe(ends[1], i)};

        nw_topology_path(topology, part, &path, share->hops);
        if (share->of->has_links)
            latency =
                nw_link_bytes_add(&share->link_bytes, layer, &path, share->hops,
                                  nw_stripe_bytes(amount[0], stripes, i));
    }
    return edge_cost_add_path(share, layer, &path, amount, latency);
}

static nw_status edge_cost_add_edge(struct nw_edge_cost *share, int32_t src,
                                    size_t e)
{
    const nw_pattern *pattern = share->of->pattern;
    const uint64_t amount[2] = {pattern->bytes[e], pattern->messages[e]};
    struct nw_end ends[2];
    nw_status status =
        nw_endpoints_of_edge(&share->of->ends, pattern, src, e, ends);

    if (status)
        return status;
    return add_far(share, layer_of(pattern->kind[e]), ends, amount);
}

/* Adds the edges of a rank. Messages to other cores of the same node, which are
 * the most frequent, are collected by intranode.h. */
static nw_status edge_cost_add_rank(struct nw_edge_cost *share, int32_t rank)
{
    const nw_pattern *pattern = share->of->pattern;
    const struct nw_end *core = share->of->ends.core;
    struct nw_intranode_row *row = &share->row;
    nw_status status = NW_OK;

    nw_intranode_begin(&share->intranode, core[rank], row);
    for (size_t e = pattern->row[rank]; !status && e < pattern->row[rank + 1];
         e++) {
        struct nw_end to = core[pattern->dst[e]];

        if (pattern->kind[e] == NW_KIND_HH && nw_intranode_suits(row, to))
            nw_intranode_add(row, to, pattern->bytes[e], pattern->messages[e]);
        else
            status = edge_cost_add_edge(share, rank, e);
    }
    nw_intranode_end(row);
    return status;
}

/* Adds the edges of a rank one by one, without intranode.h. */
static nw_status add_rank_by_edges(struct nw_edge_cost *share, int32_t rank)
{
    const size_t *row = share->of->pattern->row + rank;
    nw_status status = NW_OK;

    for (size_t e = row[0]; !status && e < row[1]; e++)
        status = edge_cost_add_edge(share, rank, e);
    return status;
}

nw_status nw_edge_cost_add(struct nw_edge_cost *share, int32_t slice)
{
    const struct nw_edge_cost_common *of = share->of;
    nw_status status = NW_OK;

    share->slice = slice;
    for (int32_t r = of->first[slice]; !status && r < of->first[slice + 1]; r++)
        status = of->each_edge || !of->used[NW_FLOW_HOST]
                     ? add_rank_by_edges(share, r)
                     : edge_cost_add_rank(share, r);
    return status;
}

/* Stores distance and level of the path between two cores whose lowest common
 * vertex is `top`, and returns its latency in s. These are equal for all pairs
 * of cores with this vertex. */
static double intranode_path(const struct nw_edge_cost *share, int32_t node,
                             int32_t top, struct nw_path *path)
{
    const nw_topology *topology = share->of->topology;
    const struct nw_node_type *type = nw_topology_type_of(topology, node);
    int32_t core = type->element[0], first = topology->link_first[node];

    if (topology->depth_distance) {
        path->distance = topology->depth_distance[type->depth[top]];
        path->level = topology->depth_count - type->depth[top];
    } else {
        path->distance = 2 * (type->depth[core] - type->depth[top]);
        path->level = NW_VERTEX_KIND_COUNT - type->kind[top];
    }
    return 2 * (share->link_bytes.above[first + core] -
                share->link_bytes.above[first + top]);
}

/* Adds the costs of the messages that intranode.h collected in a node, vertex
 * by vertex. */
static nw_status add_intranode_costs(struct nw_edge_cost *share, int32_t node)
{
    const nw_topology *topology = share->of->topology;
    const struct nw_intranode *intranode = &share->intranode;
    int32_t vertices = nw_topology_type_of(topology, node)->vertex_count;
    nw_status status = NW_OK;

    for (int32_t v = 0; !status && v < vertices; v++) {
        int32_t link = topology->link_first[node] + v;
        const uint64_t amount[2] = {intranode->bytes[link],
                                    intranode->messages[link]};
        struct nw_path path;
        double latency;

        if (!amount[0] && !amount[1])
            continue;
        latency = intranode_path(share, node, v, &path);
        status =
            edge_cost_add_path(share, NW_FLOW_HOST, &path, amount, latency);
    }
    return status;
}

/* Adds the messages that intranode.h collected to the sums over links, for part
 * `part` of the links. */
static void add_intranode_links(void *user, int32_t part)
{
    struct nw_edge_cost *share = user;
    const struct nw_intranode *intranode = &share->intranode;
    struct nw_link_bytes *link_bytes = &share->link_bytes;
    struct nw_parallel_range mine =
        nw_parallel_range(nw_topology_link_count(share->of->topology), part);

    for (int64_t l = mine.first; l < mine.end; l++) {
        link_bytes->begun[NW_FLOW_HOST][l] += intranode->begun[l];
        link_bytes->ended[NW_FLOW_HOST][l] += intranode->ended[l];
        link_bytes->turned[NW_FLOW_HOST][l] += intranode->bytes[l];
    }
}

nw_status nw_edge_cost_finish(struct nw_edge_cost *first)
{
    nw_status status = NW_OK;

    if (first->intranode.overflows)
        return nw_fail_about(NW_SUMMED, NW_EFORMAT,
                             "the bytes of one link pass 2^64");
    if (!first->has_link_bytes || !first->of->used[NW_FLOW_HOST])
        return NW_OK;
    nw_parallel_run(add_intranode_links, first, NW_PARALLEL_RANGES,
                    first->of->threads);
    first->slice = first->of->slices - 1;
    for (int32_t n = 0; !status && n < first->of->topology->node_count; n++)
        status = add_intranode_costs(first, n);
    return status;
}

nw_status nw_edge_cost_merge(struct nw_edge_cost *first,
                             const struct nw_edge_cost *from)
{
    size_t levels = (size_t)nw_topology_level_count(first->of->topology);
    nw_status status = NW_OK;

    for (size_t l = 0; !status && l < 2 * levels; l++) {
        int layer = l >= levels;
        int32_t level = (int32_t)(l % levels);

        status = edge_cost_add_level(
            first, layer, level,
            (const uint64_t[]){from->level_bytes[layer][level],
                               from->level_messages[layer][level]});
    }
    for (int i = 0; !status && i < NW_FLOW_LAYERS; i++)
        if (__builtin_add_overflow(first->exact[i], from->exact[i],
                                   &first->exact[i]))
            status =
                nw_fail_about(NW_SUMMED, NW_EFORMAT, "hop-bytes pass 2^128");
    if (status)
        return status;
    if (from->has_link_bytes)
        nw_link_bytes_merge(&first->link_bytes, &from->link_bytes);
    if (first->of->used[NW_FLOW_HOST])
        nw_intranode_merge(&first->intranode, &from->intranode,
                           first->of->threads);
    return NW_OK;
}

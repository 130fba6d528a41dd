/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns a pattern and a mapping of its ranks into messages on routes. The
 * estimate and the simulation use the same messages. */
#include "simulate/exchange.h"

#include "base/array.h"
#include "base/status.h"
#include "topology/topology.h"

#include <stdlib.h>

nw_status nw_exchange_init(struct nw_exchange *exchange,
                           const nw_topology *topology,
                           const nw_pattern *pattern, const nw_mapping *mapping)
{
    size_t links = (size_t)nw_topology_link_count(topology);
    nw_status status;

    *exchange = (struct nw_exchange){
        .topology = topology, .pattern = pattern, .scale = 1};
    if (!nw_topology_has_links(topology))
        return nw_fail(NW_EUNSUPPORTED,
                       "'%s' has distances and no links, which a simulation "
                       "needs; nodewise evaluate compares hop-bytes",
                       nw_topology_name(topology));
    status = nw_endpoints_find(topology, pattern, mapping, &exchange->ends);
    if (!status)
        status = nw_alloc(nw_topology_route_max(topology),
                          sizeof *exchange->hops, &exchange->hops);
    if (!status)
        status = nw_alloc(links, sizeof(double), &exchange->link_latency);
    for (size_t l = 0; !status && l < links; l++)
        exchange->link_latency[l] =
            nw_topology_link(topology, (int32_t)l).latency;
    if (status)
        nw_exchange_fini(exchange);
    return status;
}

void nw_exchange_fini(struct nw_exchange *exchange)
{
    nw_endpoints_fini(&exchange->ends);
    free(exchange->hops);
    free(exchange->link_latency);
    exchange->hops = NULL;
    exchange->link_latency = NULL;
}

/* Returns the mean size of the messages of edge `e` in bytes, or the size of
 * all of them together if the whole run is one exchange (exchange->total). */
static double message_bytes(const struct nw_exchange *exchange, size_t e)
{
    double bytes = (double)exchange->pattern->bytes[e];
    uint64_t messages = exchange->pattern->messages[e];

    if (!exchange->total && messages > 1)
        bytes /= (double)messages;
    return bytes * exchange->scale;
}

/* Returns false for messages of a rank to itself, unless they go between its
 * core and its GPU. */
static bool is_sent(const nw_pattern *pattern, int32_t src, size_t e)
{
    return pattern->dst[e] != src || pattern->kind[e] == NW_KIND_HG ||
           pattern->kind[e] == NW_KIND_GH;
}

void nw_exchange_scale(struct nw_exchange *exchange,
                       const struct nw_simulate_options *options)
{
    const nw_pattern *pattern = exchange->pattern;
    double most = 0;

    exchange->total = options->total;
    exchange->scale = 1;
    if (!options->bytes)
        return;
    for (int32_t r = 0; r < pattern->rank_count; r++)
        for (size_t e = pattern->row[r]; e < pattern->row[r + 1]; e++)
            if (is_sent(pattern, r, e) && message_bytes(exchange, e) > most)
                most = message_bytes(exchange, e);
    if (most > 0)
        exchange->scale = (double)options->bytes / most;
}

/* Finds the route and the latency of part `stripe` of a message. */
static void route_flow(const struct nw_exchange *exchange,
                       const struct nw_end ends[2], int32_t stripe,
                       struct nw_flow *flow)
{
    flow->hop_count = nw_stripe_route(exchange->topology, ends[0], ends[1],
                                      stripe, exchange->hops);
    flow->latency = 0;
    for (size_t i = 0; i < flow->hop_count; i++)
        flow->latency += exchange->link_latency[flow->hops[i] / 2];
}

/* Calls visit() for each part of the message of edge `e` that crosses a
 * link. */
static nw_status visit_edge(const struct nw_exchange *exchange, int32_t src,
                            size_t e, nw_flow_visit visit, void *user)
{
    struct nw_flow flow = {.hops = exchange->hops};
    struct nw_end ends[2];
    int32_t stripes;
    nw_status status =
        nw_endpoints_of_edge(&exchange->ends, exchange->pattern, src, e, ends);

    if (status)
        return status;
    stripes = nw_topology_stripe_count(exchange->topology, ends[0], ends[1]);
    flow.bytes = message_bytes(exchange, e) / stripes;
    for (int32_t i = 0; !status && i < stripes; i++) {
        route_flow(exchange, ends, i, &flow);
        if (flow.hop_count)
            status = visit(user, &flow);
    }
    return status;
}

nw_status nw_exchange_each(const struct nw_exchange *exchange,
                           nw_flow_visit visit, void *user)
{
    const nw_pattern *pattern = exchange->pattern;
    nw_status status = NW_OK;

    for (int32_t r = 0; !status && r < pattern->rank_count; r++)
        for (size_t e = pattern->row[r]; !status && e < pattern->row[r + 1];
             e++)
            status = visit_edge(exchange, r, e, visit, user);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns one exchange of a pattern into flows of bytes over links. In an
 * exchange, all messages start at once: one message of mean size for each edge
 * of the pattern, or all bytes of the edge together (nw_exchange.total). */
#ifndef NW_SIMULATE_EXCHANGE_H
#define NW_SIMULATE_EXCHANGE_H

#include <nodewise/simulate.h>

#include "cost/endpoints.h"

/* The flow of the message of one edge, or of the part of it that takes one NIC;
 * valid until the visit function returns. */
struct nw_flow {
    double bytes;
    double latency;       /* sum of the latencies of the route's links in s */
    const uint32_t *hops; /* [hop_count] 2 * link + direction for each link
                             of the route; at least one */
    size_t hop_count;
};

/* The inputs of an exchange. topology and pattern are borrowed. */
struct nw_exchange {
    const nw_topology *topology;
    const nw_pattern *pattern;
    struct nw_endpoints ends;
    bool total;           /* the bytes of the whole run are sent at once */
    double scale;         /* factor for the bytes of every message */
    uint32_t *hops;       /* working memory for the links of a route */
    double *link_latency; /* [links] latency of each link in s */
};

NW_MUST_CHECK nw_status nw_exchange_init(struct nw_exchange *exchange,
                                         const nw_topology *topology,
                                         const nw_pattern *pattern,
                                         const nw_mapping *mapping);
/* Sets the message sizes as the options say: with `bytes`, scales them so that
 * the largest has this size; with `total`, an edge's message has all its bytes.
 * Before this call, messages have the mean sizes of the pattern. */
void nw_exchange_scale(struct nw_exchange *exchange,
                       const struct nw_simulate_options *options);
void nw_exchange_fini(struct nw_exchange *exchange);

/* Calls visit() for every flow that crosses a link, in the pattern's order,
 * until a call fails. */
typedef nw_status (*nw_flow_visit)(void *user, const struct nw_flow *flow);
NW_MUST_CHECK nw_status nw_exchange_each(const struct nw_exchange *exchange,
                                         nw_flow_visit visit, void *user);

/* Estimates the exchange from the congestion of links. On success, sets all of
 * *out, with out->time equal to out->estimate. */
NW_MUST_CHECK nw_status nw_exchange_estimate(const struct nw_exchange *exchange,
                                             struct nw_simulation *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* One exchange of a pattern as flows over links. */
#ifndef NW_SIMULATE_EXCHANGE_H
#define NW_SIMULATE_EXCHANGE_H

#include <nodewise/simulate.h>

#include "cost/endpoints.h"

/* One message on its way; valid during a visit. */
struct nw_flow {
    double bytes;
    double latency;       /* s, summed over the route */
    const uint32_t *hops; /* 2 x link + direction, at least one */
    size_t hop_count;
};

/* The inputs of an exchange. The three nouns are borrowed. */
struct nw_exchange {
    const nw_topology *topology;
    const nw_pattern *pattern;
    struct nw_endpoints ends;
    bool total;
    double scale; /* of every message */
    uint32_t *hops;
    double *link_latency; /* [links] */
};

NW_MUST_CHECK nw_status nw_exchange_init(struct nw_exchange *exchange,
                                         const nw_topology *topology,
                                         const nw_pattern *pattern,
                                         const nw_mapping *mapping);
/* Sizes as asked for; before that, messages are as in the pattern. */
void nw_exchange_scale(struct nw_exchange *exchange,
                       const struct nw_simulate_options *options);
void nw_exchange_fini(struct nw_exchange *exchange);

/* Calls visit for every message that crosses a link, in the pattern's order,
 * until one fails. */
typedef nw_status (*nw_flow_visit)(void *user, const struct nw_flow *flow);
NW_MUST_CHECK nw_status nw_exchange_each(const struct nw_exchange *exchange,
                                         nw_flow_visit visit, void *user);

/* The congestion estimate; fills all of *out but `time`, which is it too. */
NW_MUST_CHECK nw_status nw_exchange_estimate(const struct nw_exchange *exchange,
                                             struct nw_simulation *out);

#endif

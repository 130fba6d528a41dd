/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects the flows of an exchange; the links of all flows are stored in one
 * array (compressed rows). Directions of links are numbered from 0 in the order
 * of their first use. */
#include "simulate/traffic.h"

#include "base/array.h"

#include <stdlib.h>

struct collection {
    const struct nw_topology *topology;
    struct nw_traffic traffic;
    /* [2 * links] 1 + new number of each direction of a link; 0: not used
     * yet */
    int32_t *number;
    size_t bandwidth_capacity, link_capacity;
};

/* Returns in *out the new number of a direction of a link; adds its bandwidth
 * at the first use. */
static nw_status traffic_number_of(struct collection *work, uint32_t hop,
                                   int32_t *out)
{
    struct nw_traffic *traffic = &work->traffic;
    struct nw_link_info link;
    nw_status status;

    if (!work->number[hop]) {
        status = nw_grow(&traffic->bandwidth, &work->bandwidth_capacity,
                         (size_t)traffic->link_count + 1, sizeof(double));
        if (status)
            return status;
        link = nw_topology_link(work->topology, (int32_t)(hop / 2));
        traffic->bandwidth[traffic->link_count] = link.bandwidth[hop & 1];
        work->number[hop] = ++traffic->link_count;
    }
    *out = work->number[hop] - 1;
    return NW_OK;
}

/* Adds a flow. A message without bytes only counts in traffic->waiting. */
static nw_status traffic_add_flow(void *user, const struct nw_flow *flow)
{
    struct collection *work = user;
    struct nw_traffic *traffic = &work->traffic;
    size_t f = traffic->flow_count, at = traffic->row[f];
    nw_status status;

    if (!(flow->bytes > 0)) {
        if (flow->latency > traffic->waiting)
            traffic->waiting = flow->latency;
        return NW_OK;
    }
    status = nw_grow(&traffic->link, &work->link_capacity, at + flow->hop_count,
                     sizeof(int32_t));
    for (size_t i = 0; !status && i < flow->hop_count; i++)
        status = traffic_number_of(work, flow->hops[i], &traffic->link[at + i]);
    if (status)
        return status;
    traffic->bytes[f] = flow->bytes;
    traffic->latency[f] = flow->latency;
    traffic->row[f + 1] = at + flow->hop_count;
    traffic->flow_count++;
    return NW_OK;
}

nw_status nw_traffic_collect(const struct nw_exchange *exchange, size_t flows,
                             struct nw_traffic *out)
{
    struct collection work = {.topology = exchange->topology};
    struct nw_traffic *traffic = &work.traffic;
    size_t links = (size_t)nw_topology_link_count(exchange->topology);
    nw_status status = nw_alloc(2 * links, sizeof(int32_t), &work.number);

    if (!status)
        status = nw_alloc(flows, sizeof(double), &traffic->bytes);
    if (!status)
        status = nw_alloc(flows, sizeof(double), &traffic->latency);
    if (!status)
        status = nw_alloc(flows + 1, sizeof(size_t), &traffic->row);
    if (!status)
        status = nw_exchange_each(exchange, traffic_add_flow, &work);
    free(work.number);
    if (status)
        nw_traffic_fini(traffic);
    else
        *out = *traffic;
    return status;
}

void nw_traffic_fini(struct nw_traffic *traffic)
{
    free(traffic->bandwidth);
    free(traffic->bytes);
    free(traffic->latency);
    free(traffic->row);
    free(traffic->link);
    *traffic = (struct nw_traffic){0};
}

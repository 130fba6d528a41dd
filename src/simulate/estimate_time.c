/* SPDX-License-Identifier: BSD-3-Clause */
/* Estimates the time of an exchange from the bytes on each link. The estimate
 * is the arrival of the last message (cost/arrival.h). */
#include "simulate/exchange.h"

#include "base/array.h"
#include "cost/arrival.h"

#include <stdlib.h>

struct estimate_load {
    /* [2 * links] first the bytes on each direction of each link, later the
     * time in s that they take */
    double *seconds;
    struct nw_simulation *result;
    double bytes;
};

static nw_status estimate_add_load(void *user, const struct nw_flow *flow)
{
    struct estimate_load *load = user;

    for (size_t i = 0; i < flow->hop_count; i++)
        load->seconds[flow->hops[i]] += flow->bytes;
    load->bytes += flow->bytes;
    load->result->flows++;
    return NW_OK;
}

static nw_status take_longest(void *user, const struct nw_flow *flow)
{
    struct estimate_load *load = user;
    double seconds =
        nw_arrival(flow->latency, flow->hops, flow->hop_count, load->seconds);

    if (seconds > load->result->estimate)
        load->result->estimate = seconds;
    return NW_OK;
}

/* Divides the bytes on each direction of each link by the bandwidth of this
 * direction. */
static void estimate_congest(double *load, const nw_topology *topology)
{
    int32_t links = nw_topology_link_count(topology);

    for (int32_t l = 0; l < links; l++)
        if (load[2 * l] > 0 || load[2 * l + 1] > 0) {
            struct nw_link_info link = nw_topology_link(topology, l);

            load[2 * l] /= link.bandwidth[0];
            load[2 * l + 1] /= link.bandwidth[1];
        }
}

nw_status nw_exchange_estimate(const struct nw_exchange *exchange,
                               struct nw_simulation *out)
{
    struct nw_simulation result = {0};
    struct estimate_load load = {.result = &result};
    size_t links = (size_t)nw_topology_link_count(exchange->topology);
    nw_status status = nw_alloc(2 * links, sizeof(double), &load.seconds);

    if (!status)
        status = nw_exchange_each(exchange, estimate_add_load, &load);
    if (!status) {
        estimate_congest(load.seconds, exchange->topology);
        status = nw_exchange_each(exchange, take_longest, &load);
    }
    free(load.seconds);
    if (status)
        return status;
    result.bytes = load.bytes < 0x1p64 ? (uint64_t)load.bytes : UINT64_MAX;
    result.time = result.estimate;
    *out = result;
    return NW_OK;
}

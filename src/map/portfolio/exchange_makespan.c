/* SPDX-License-Identifier: BSD-3-Clause */
/* Estimates when the last message of an exchange arrives (cost/arrival.h).
 * This distinguishes mappings of equal congestion. */
#include "map/portfolio/candidate.h"
#include "base/array.h"
#include "cost/arrival.h"
#include "cost/endpoints.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>

/* State while the messages of an exchange are visited. */
struct makespan_work {
    const nw_topology *topology;
    const struct nw_cost *cost;
    uint32_t *hop; /* scratch: the route of a message */
    double last;   /* arrival of the last message so far, as a time in s */
};

/* Computes when each stripe of a message arrives: messages of a GPU can be
 * divided into stripes, one for each NIC that they use. Raises work->last if a
 * stripe arrives later than all messages so far. */
static void makespan_add_message(struct makespan_work *work,
                                 const struct nw_end ends[2])
{
    const nw_topology *topology = work->topology;
    int32_t stripes = nw_topology_stripe_count(topology, ends[0], ends[1]);

    for (int32_t s = 0; s < stripes; s++) {
        size_t count =
            nw_stripe_route(topology, ends[0], ends[1], s, work->hop);
        double latency = 0;

        for (size_t i = 0; i < count; i++)
            latency +=
                nw_topology_link(topology, (int32_t)(work->hop[i] / 2)).latency;
        work->last = fmax(work->last, nw_arrival(latency, work->hop, count,
                                                 work->cost->link_congestion));
    }
}

nw_status nw_exchange_makespan(const struct nw_problem *problem,
                               const nw_mapping *mapping,
                               const struct nw_cost *cost, double *out)
{
    const nw_pattern *pattern = problem->pattern;
    struct makespan_work work = {.topology = problem->topology, .cost = cost};
    struct nw_endpoints places = {0};
    nw_status status = nw_alloc(nw_topology_route_max(work.topology) + 1,
                                sizeof *work.hop, &work.hop);

    if (!status)
        status = nw_endpoints_find(work.topology, pattern, mapping, &places);
    for (int32_t r = 0; !status && r < pattern->rank_count; r++)
        for (size_t e = pattern->row[r]; !status && e < pattern->row[r + 1];
             e++) {
            struct nw_end ends[2];

            status = nw_endpoints_of_edge(&places, pattern, r, e, ends);
            if (!status && pattern->bytes[e])
                makespan_add_message(&work, ends);
        }
    nw_endpoints_fini(&places);
    free(work.hop);
    if (!status)
        *out = work.last;
    return status;
}

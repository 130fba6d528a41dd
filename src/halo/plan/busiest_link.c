/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums the bytes that an exchange between nodes sends over each link. The
 * routes are fixed, so a placement with shorter routes may still send more
 * bytes over one link. */
#include "halo/plan/busiest_link.h"

#include "base/array.h"

#include <stdlib.h>

struct busiest_link_load {
    uint32_t *hops; /* space for one route */
    double *bytes;  /* bytes[2 * l + d]: bytes over direction d of link l */
};

static struct nw_end busiest_link_end_of(const struct nw_halo_network *network,
                                         const int32_t *machine_node,
                                         int32_t piece)
{
    int32_t node = network->layout->piece[piece].node;
    int32_t slot = piece - network->layout->first[node];

    return network->end[machine_node[node] * network->slots + slot];
}

static void busiest_link_add(const struct nw_halo_network *network,
                             const int32_t *machine_node,
                             struct busiest_link_load *load)
{
    const struct nw_halo_piece *piece = network->layout->piece;
    double cell = (double)network->layout->domain.cell_bytes;

    for (size_t i = 0; i < network->transfers->count; i++) {
        const struct nw_halo_transfer *item = &network->transfers->item[i];
        const int64_t *n = item->extent;
        size_t hops;

        if (piece[item->from].node == piece[item->to].node)
            continue;
        hops = nw_topology_route(
            network->topology,
            busiest_link_end_of(network, machine_node, item->from),
            busiest_link_end_of(network, machine_node, item->to), load->hops);
        for (size_t k = 0; k < hops; k++)
            load->bytes[load->hops[k]] +=
                cell * (double)n[0] * (double)n[1] * (double)n[2];
    }
}

nw_status nw_halo_busiest(const struct nw_halo_network *network,
                          const int32_t *machine_node, double *out)
{
    size_t links = (size_t)nw_topology_link_count(network->topology);
    struct busiest_link_load load = {NULL, NULL};
    double most = 0;
    nw_status status = nw_alloc(nw_topology_route_max(network->topology) + 1,
                                sizeof *load.hops, &load.hops);

    if (!status)
        status = nw_alloc(2 * links, sizeof *load.bytes, &load.bytes);
    if (!status)
        busiest_link_add(network, machine_node, &load);
    for (size_t i = 0; !status && i < 2 * links; i++)
        if (load.bytes[i] > 0) {
            struct nw_link_info link =
                nw_topology_link(network->topology, (int32_t)(i / 2));
            double seconds = load.bytes[i] / link.bandwidth[i & 1];

            most = seconds > most ? seconds : most;
        }
    free(load.hops);
    free(load.bytes);
    if (!status)
        *out = most;
    return status;
}

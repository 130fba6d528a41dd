/* SPDX-License-Identifier: BSD-3-Clause */
/* What the model knows of the way between two pieces: the narrowest link on
 * the topology's route, and where there is none figures of common machines. */
#include "halo/plan/model.h"

#include "base/array.h"

#include <stdlib.h>

/* PCIe 5 between GPUs and pinned copies over it as measured elsewhere; a
 * network of 100 Gbit/s. */
static const struct nw_halo_road usual = {
    .link = 50e9, .out = 55e9, .in = 55e9, .wire = 12.5e9, .latency = 1.5e-6};

nw_status nw_halo_roads_open(const nw_halo_layout *layout, const char *source,
                             struct nw_halo_roads *out)
{
    struct nw_halo_roads roads = {.layout = layout};
    nw_status status = NW_OK;

    if (source)
        status = nw_topology_load(source, NULL, &roads.topology);
    if (!status && roads.topology)
        status = nw_alloc(nw_topology_route_max(roads.topology) + 1,
                          sizeof *roads.hops, &roads.hops);
    if (status)
        nw_halo_roads_close(&roads);
    else
        *out = roads;
    return status;
}

void nw_halo_roads_close(struct nw_halo_roads *roads)
{
    nw_topology_free(roads->topology);
    free(roads->hops);
    *roads = (struct nw_halo_roads){0};
}

/* The narrowest link, into *rate where there is one, and the sum of latencies.
 * Copies between memories do not pass cores. */
static double narrow(const struct nw_halo_roads *roads, struct nw_end from,
                     struct nw_end to, double *rate)
{
    size_t count = nw_topology_route(roads->topology, from, to, roads->hops);
    double least = 0, latency = 0;

    for (size_t i = 0; i < count; i++) {
        struct nw_link_info link =
            nw_topology_link(roads->topology, (int32_t)(roads->hops[i] / 2));
        double bandwidth = link.bandwidth[roads->hops[i] & 1];

        latency += link.latency;
        if (link.kind != NW_LINK_CORE && link.kind != NW_LINK_CACHE &&
            bandwidth > 0 && (least <= 0 || bandwidth < least))
            least = bandwidth;
    }
    if (least > 0)
        *rate = least;
    return latency;
}

static bool on_map(const struct nw_halo_roads *roads, int32_t number)
{
    const struct nw_halo_piece *piece = &roads->layout->piece[number];

    return roads->topology && nw_topology_has_links(roads->topology) &&
           piece->node < nw_topology_node_count(roads->topology);
}

static struct nw_end host_end(const struct nw_halo_roads *roads,
                              const struct nw_halo_piece *piece)
{
    struct nw_range cores =
        nw_topology_node_elements(roads->topology, piece->node);

    return nw_topology_element_end(
        roads->topology,
        cores.first + nw_halo_core_of(roads->topology, piece->node, piece->slot,
                                      roads->layout->gpus));
}

static bool gpu_end(const struct nw_halo_roads *roads,
                    const struct nw_halo_piece *piece, struct nw_end *out)
{
    struct nw_range gpus = nw_topology_node_gpus(roads->topology, piece->node);

    if (piece->slot >= gpus.count)
        return false;
    *out = nw_topology_gpu_end(roads->topology, gpus.first + piece->slot);
    return true;
}

struct nw_halo_road nw_halo_road_of(const struct nw_halo_roads *roads,
                                    int32_t from, int32_t to)
{
    const struct nw_halo_piece *a = &roads->layout->piece[from];
    const struct nw_halo_piece *b = &roads->layout->piece[to];
    struct nw_halo_road road = usual;
    struct nw_end gpu[2], host[2];

    if (!on_map(roads, from) || !on_map(roads, to))
        return road;
    host[0] = host_end(roads, a);
    host[1] = host_end(roads, b);
    if (a->node != b->node)
        road.latency = narrow(roads, host[0], host[1], &road.wire);
    if (!gpu_end(roads, a, &gpu[0]) || !gpu_end(roads, b, &gpu[1]))
        return road;
    narrow(roads, gpu[0], gpu[1], &road.link);
    narrow(roads, gpu[0], host[0], &road.out);
    narrow(roads, host[1], gpu[1], &road.in);
    return road;
}

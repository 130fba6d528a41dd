/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes are asked of the topology once a pair, as long as the table of pairs
 * stays small; it is cleared memory that costs nothing before it is used. */
#include "map/congestion/route_cache.h"
#include "base/array.h"
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

#define TABLE_MOST 1200 /* nooks */

nw_status nw_ways_init(struct nw_ways *ways)
{
    const nw_topology *topology = ways->topology;
    size_t links = (size_t)nw_topology_link_count(topology);
    nw_status status = nw_alloc(nw_topology_route_max(topology),
                                sizeof *ways->room, &ways->room);

    if (!status && nw_topology_has_links(topology) && ways->wants_latency)
        status = nw_alloc(links, sizeof(double), &ways->link_latency);
    for (size_t l = 0; !status && ways->link_latency && l < links; l++)
        ways->link_latency[l] = nw_topology_link(topology, (int32_t)l).latency;
    if (!status)
        status = nw_ways_join(ways);
    if (!status && ways->keeps && ways->nooks <= TABLE_MOST)
        status = nw_alloc((size_t)ways->nooks * (size_t)ways->nooks,
                          sizeof *ways->kept, &ways->kept);
    return status;
}

void nw_ways_fini(struct nw_ways *ways)
{
    free(ways->link_latency);
    free(ways->nook);
    free(ways->seat);
    free(ways->own);
    free(ways->own_hop);
    free(ways->kept);
    free(ways->hop);
    free(ways->room);
    *ways = (struct nw_ways){0};
}

/* Without the seats' own links, which come first and last. */
static struct nw_way ask(struct nw_ways *ways, int32_t a, int32_t b)
{
    const nw_topology *topology = ways->topology;
    int32_t s = ways->seat[a][0], t = ways->seat[b][a == b];
    struct nw_end from = ways->end[s], to = ways->end[t];
    struct nw_way way = {0};
    bool given = topology->matrix || topology->depth_distance;

    ways->asked++;
    if (ways->wants_hops || ways->link_latency)
        way.count = (uint32_t)nw_topology_route(topology, from, to, ways->room);
    if (ways->wants_distance || (ways->wants_latency && given))
        way.distance = nw_topology_distance(topology, from, to);
    for (uint32_t i = 0; ways->link_latency && i < way.count; i++)
        way.latency += ways->link_latency[ways->room[i] / 2];
    if (given)
        way.latency = way.distance;
    way.hop = ways->room;
    if (way.count) {
        way.hop += ways->own[s + 1] - ways->own[s];
        way.count -=
            ways->own[s + 1] - ways->own[s] + ways->own[t + 1] - ways->own[t];
    }
    return way;
}

/* Where memory is short the way is asked again next time. */
static void keep(struct nw_ways *ways, struct nw_kept_way *kept,
                 const struct nw_way *way)
{
    size_t need = ways->hop_count + way->count;

    if (need > UINT32_MAX ||
        nw_grow(&ways->hop, &ways->hop_capacity, need, sizeof *ways->hop))
        return;
    if (way->count)
        memcpy(ways->hop + ways->hop_count, way->hop,
               way->count * sizeof *way->hop);
    *kept = (struct nw_kept_way){(uint32_t)ways->hop_count, way->count + 1,
                                 way->distance, way->latency};
    ways->hop_count = need;
}

struct nw_way nw_ways_ask(struct nw_ways *ways, int32_t a, int32_t b)
{
    struct nw_way way = ask(ways, a, b);

    if (ways->kept)
        keep(ways, &ways->kept[(size_t)a * (size_t)ways->nooks + (size_t)b],
             &way);
    return way;
}

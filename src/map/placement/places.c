/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes and distances between places: from a table if there are few places,
 * otherwise computed from the topology each time. */
#include "map/placement/placement.h"
#include "base/array.h"
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

/* Most places for which a table of all routes is made. */
#define TABLE_MAX 128

/* Fills places->bandwidth with the bandwidth of each hop; it stays NULL if the
 * machine has no links. */
static nw_status places_read_bandwidths(struct nw_places *places)
{
    const nw_topology *topology = places->topology;
    nw_status status;

    if (!nw_topology_has_links(topology))
        return NW_OK;
    status = nw_alloc(places->hop_count, sizeof *places->bandwidth,
                      &places->bandwidth);
    for (uint32_t i = 0; !status && i < places->hop_count; i++) {
        uint32_t hop = places->hop_base + i;
        int32_t class = nw_topology_link_class_of(topology, (int32_t)(hop / 2));

        /* class -1: the number of a link to a switch that does not exist,
         * which no route takes; 1 avoids divisions by 0 */
        places->bandwidth[i] =
            class < 0 ? 1 : topology->class[class].bandwidth[hop & 1];
    }
    return status;
}

/* Makes the table of routes between all places if there are at most TABLE_MAX
 * and the machine has links. */
static nw_status places_build_table(struct nw_places *places)
{
    size_t n = (size_t)places->count, most, capacity = 0, at = 0;
    nw_status status;

    if (n > TABLE_MAX || !places->bandwidth)
        return NW_OK;
    most = nw_topology_route_max(places->topology);
    status = nw_alloc(n * n + 1, sizeof *places->route_row, &places->route_row);
    for (size_t i = 0; !status && i < n * n; i++) {
        status =
            nw_grow(&places->route, &capacity, at + most, sizeof(uint32_t));
        if (!status)
            at += nw_places_find_route(places, (int32_t)(i / n),
                                       (int32_t)(i % n), places->route + at)
                      .count;
        places->route_row[i + 1] = at;
    }
    return status;
}

nw_status nw_places_init(struct nw_places *places, const nw_topology *topology,
                         struct nw_end *end, int32_t count, int32_t node)
{
    int32_t first = node < 0 ? 0 : topology->link_first[node];
    int32_t last =
        node < 0 ? topology->link_count : topology->link_first[node + 1];
    nw_status status;

    *places = (struct nw_places){.topology = topology,
                                 .count = count,
                                 .end = end,
                                 .hop_base = 2 * (uint32_t)first,
                                 .hop_count = 2 * (uint32_t)(last - first)};
    status = places_read_bandwidths(places);
    if (!status)
        status = places_build_table(places);
    if (status)
        nw_places_fini(places);
    return status;
}

void nw_places_fini(struct nw_places *places)
{
    NW_FREE_ALL(places->end, places->bandwidth, places->route_row,
                places->route);
    *places = (struct nw_places){0};
}

struct nw_hops nw_places_find_route(const struct nw_places *places, int32_t a,
                                    int32_t b, uint32_t *buffer)
{
    size_t count = 0;

    if (places->bandwidth)
        count = nw_topology_route(places->topology, places->end[a],
                                  places->end[b], buffer);
    for (size_t i = 0; i < count; i++)
        buffer[i] -= places->hop_base;
    return (struct nw_hops){buffer, count};
}

double nw_places_distance(const struct nw_places *places, int32_t a, int32_t b)
{
    if (a == b)
        return 0;
    return nw_topology_distance(places->topology, places->end[a],
                                places->end[b]);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the route between two route classes at its first use. If there are
 * few classes, stores it in a table of all pairs. The table is zeroed memory,
 * which the operating system provides page by page at the first use. */
#include "map/congestion/route_cache.h"
#include "map/common/parameters.h"
#include "base/array.h"
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

nw_status nw_route_cache_init(struct nw_route_cache *routes)
{
    const nw_topology *topology = routes->topology;
    size_t links = (size_t)nw_topology_link_count(topology);
    nw_status status = nw_alloc(nw_topology_route_max(topology),
                                sizeof *routes->buffer, &routes->buffer);

    if (!status && nw_topology_has_links(topology) && routes->wants.latency)
        status = nw_alloc(links, sizeof(double), &routes->link_latency);
    for (size_t l = 0; !status && routes->link_latency && l < links; l++)
        routes->link_latency[l] =
            nw_topology_link(topology, (int32_t)l).latency;
    if (!status)
        status = nw_route_cache_classify(routes);
    if (!status && routes->keeps &&
        routes->route_classes <= nw_tuned.congestion.route_classes_max)
        status = nw_alloc((size_t)routes->route_classes *
                              (size_t)routes->route_classes,
                          sizeof *routes->kept, &routes->kept);
    return status;
}

void nw_route_cache_fini(struct nw_route_cache *routes)
{
    NW_FREE_ALL(routes->link_latency, routes->route_class, routes->slot,
                routes->own, routes->own_hop, routes->kept, routes->hop,
                routes->buffer);
    *routes = (struct nw_route_cache){0};
}

/* Writes the links of all parts of a message to buffer[]. Stores the latency of
 * part 0. */
static void route_cache_follow(struct nw_route_cache *routes,
                               struct nw_end from, struct nw_end to,
                               struct nw_route *route)
{
    for (uint32_t i = 0; i < route->stripes; i++) {
        route->count +=
            (uint32_t)nw_stripe_route(routes->topology, from, to, (int32_t)i,
                                      routes->buffer + route->count);
        for (uint32_t l = 0; !i && routes->link_latency && l < route->count;
             l++)
            route->latency += routes->link_latency[routes->buffer[l] / 2];
    }
}

/* Computes the route between two classes. Leaves out the first and the last
 * links, which only one slot uses, because they differ between the slots of a
 * class. */
static struct nw_route route_cache_ask(struct nw_route_cache *routes, int32_t a,
                                       int32_t b)
{
    const nw_topology *topology = routes->topology;
    int32_t s = routes->slot[a][0], t = routes->slot[b][a == b];
    struct nw_end from = routes->end[s], to = routes->end[t];
    struct nw_route route = {
        .stripes = (uint32_t)nw_topology_stripe_count(topology, from, to)};
    bool given = topology->matrix || topology->depth_distance;
    bool follows = routes->wants.links || routes->link_latency;

    routes->asked++;
    if (follows)
        route_cache_follow(routes, from, to, &route);
    if (routes->wants.hop_bytes && follows && !given && route.stripes == 1)
        route.distance = route.count; /* the distance counts the links */
    else if (routes->wants.hop_bytes || (routes->wants.latency && given))
        route.distance = nw_topology_distance(topology, from, to);
    if (given)
        route.latency = route.distance;
    route.hop = routes->buffer;
    if (route.count) {
        route.hop += routes->own[s + 1] - routes->own[s];
        route.count -= routes->own[s + 1] - routes->own[s] +
                       routes->own[t + 1] - routes->own[t];
    }
    return route;
}

/* Stores a route in the cache. If there is not enough memory, the route is
 * computed again at its next use. */
static void route_cache_keep(struct nw_route_cache *routes,
                             struct nw_cached_route *kept,
                             const struct nw_route *route)
{
    size_t need = routes->hop_count + route->count;

    if (need > UINT32_MAX ||
        nw_grow(&routes->hop, &routes->hop_capacity, need, sizeof *routes->hop))
        return;
    if (route->count)
        memcpy(routes->hop + routes->hop_count, route->hop,
               route->count * sizeof *route->hop);
    *kept = (struct nw_cached_route){(uint32_t)routes->hop_count,
                                     route->count + 1, route->stripes,
                                     route->distance, route->latency};
    routes->hop_count = need;
}

struct nw_route nw_route_cache_compute(struct nw_route_cache *routes, int32_t a,
                                       int32_t b)
{
    struct nw_route route = route_cache_ask(routes, a, b);

    if (routes->kept)
        route_cache_keep(
            routes,
            &routes
                 ->kept[(size_t)a * (size_t)routes->route_classes + (size_t)b],
            &route);
    return route;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the route classes: slots of a node that differ only by links that no
 * other slot uses. These links lead from a core or GPU up to the first vertex
 * with several children in the tree of its node. Computes the route between two
 * route classes at its first use. If there are
 * few classes, stores it in a table of all pairs. The table is zeroed memory,
 * which the operating system provides page by page at the first use. */
#include "map/congestion/route_cache.h"
#include "map/common/parameters.h"
#include "base/array.h"
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

/* --- route classes --- */

/* Returns true if `end` is a core, hardware thread or GPU from which routes
 * lead up the tree of its node, each over one NIC at most. */
static bool route_classes_is_climbing(const struct nw_node_type *type,
                                      struct nw_end end)
{
    uint8_t kind;

    if (end.nic >= 0 || end.vertex <= 0)
        return false;
    kind = type->kind[end.vertex];
    return (kind == NW_VERTEX_CORE || kind == NW_VERTEX_PU ||
            (kind == NW_VERTEX_GPU && type->stripe_count == 1)) &&
           (!type->end_of || type->end_of[end.vertex] < 0);
}

/* Replaces *children by a new array: the number of children of each vertex of
 * the node's tree. */
static nw_status route_classes_count_children(const struct nw_node_type *type,
                                              int32_t **children)
{
    nw_status status;

    free(*children);
    *children = NULL;
    status = nw_alloc((size_t)type->vertex_count, sizeof **children, children);
    for (int32_t v = 1; !status && v < type->vertex_count; v++)
        (*children)[type->parent[v]]++;
    return status;
}

/* Returns the number of links that only the routes of this end use; 0 for a
 * vertex with children, and for an end that is not climbing. */
static uint32_t route_classes_count_own(const struct nw_node_type *type,
                                        struct nw_end end,
                                        const int32_t *children)
{
    int32_t v = end.vertex;
    uint32_t count = 0;

    if (!route_classes_is_climbing(type, end) || children[v])
        return 0;
    do {
        v = type->parent[v];
        count++;
    } while (v > 0 && children[v] == 1);
    return count;
}

/* Counts the links that belong to each slot alone. own[s] becomes the sum of
 * the counts of the slots before s. */
static nw_status route_classes_find_own(struct nw_route_cache *routes)
{
    const nw_topology *topology = routes->topology;
    const struct nw_node_type *last = NULL;
    int32_t *children = NULL;
    nw_status status = NW_OK;

    for (int32_t s = 0; !status && s < routes->count; s++) {
        struct nw_end end = routes->end[s];
        const struct nw_node_type *type =
            nw_topology_type_of(topology, end.node);

        if (routes->joins && !topology->matrix && type != last)
            status = route_classes_count_children(type, &children);
        last = type;
        routes->own[s + 1] =
            routes->own[s] + (children && !status
                                  ? route_classes_count_own(type, end, children)
                                  : 0);
    }
    free(children);
    return status;
}

/* Fills own_hop[] for slot s: the links from its end upwards that no other slot
 * uses. */
static void route_classes_fill_own(struct nw_route_cache *routes, int32_t s)
{
    const nw_topology *topology = routes->topology;
    struct nw_end end = routes->end[s];
    const struct nw_node_type *type = nw_topology_type_of(topology, end.node);

    for (uint32_t i = routes->own[s]; i < routes->own[s + 1]; i++) {
        for (int in = 0; in < 2; in++)
            routes->own_hop[i][in] = nw_topology_hop(
                topology, type->class[end.vertex],
                topology -> link_first[end.node] + end.vertex, in);
        end.vertex = type->parent[end.vertex];
    }
}

/* Returns true if slots s and t of one node differ only by the links that
 * belong to them alone, and these links have the same bandwidth and latency. */
static bool route_classes_are_twins(const struct nw_route_cache *routes,
                                    int32_t s, int32_t t)
{
    const uint32_t *own = routes->own;
    struct nw_end a = routes->end[s], b = routes->end[t];
    const struct nw_node_type *type =
        nw_topology_type_of(routes->topology, a.node);

    if (own[s] == own[s + 1] || own[s + 1] - own[s] != own[t + 1] - own[t] ||
        type->kind[a.vertex] != type->kind[b.vertex] ||
        nw_end_card(routes->topology, a) != nw_end_card(routes->topology, b))
        return false;
    for (uint32_t i = own[s]; i < own[s + 1]; i++) {
        if (type->class[a.vertex] != type->class[b.vertex])
            return false;
        a.vertex = type->parent[a.vertex];
        b.vertex = type->parent[b.vertex];
    }
    return a.vertex == b.vertex;
}

/* Returns the route class of slot s, or the next unused number if s fits into
 * no class. Only the last classes need to be searched, because the slots of a
 * node follow each other. */
static int32_t route_classes_find(const struct nw_route_cache *routes,
                                  int32_t s)
{
    for (int32_t n = routes->route_classes - 1; n >= 0; n--) {
        int32_t t = routes->slot[n][0];

        if (routes->end[t].node != routes->end[s].node)
            break;
        if (route_classes_are_twins(routes, s, t))
            return n;
    }
    return routes->route_classes;
}

/* Finds the route classes. */
static nw_status route_classes_classify(struct nw_route_cache *routes)
{
    size_t n = (size_t)routes->count;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY(n, routes->route_class),
                     NW_ARRAY(n, routes->slot), NW_ARRAY(n + 1, routes->own));

    if (!status)
        status = route_classes_find_own(routes);
    if (!status)
        status =
            nw_alloc(routes->own[n], sizeof *routes->own_hop, &routes->own_hop);
    for (int32_t s = 0; !status && s < routes->count; s++) {
        int32_t route_class = routes->joins ? route_classes_find(routes, s)
                                            : routes->route_classes;

        route_classes_fill_own(routes, s);
        if (route_class == routes->route_classes)
            routes->slot[routes->route_classes++][0] = s;
        routes->route_class[s] = route_class;
        routes->slot[route_class][1] = s;
    }
    return status;
}

/* --- routes --- */

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
        status = route_classes_classify(routes);
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

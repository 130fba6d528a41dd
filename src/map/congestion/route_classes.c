/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the route classes: slots of a node that differ only by links that no
 * other slot uses. These links lead from a core or GPU up to the first vertex
 * with several children in the tree of its node. */
#include "map/congestion/route_cache.h"
#include "base/array.h"
#include "topology/topology.h"

#include <stdlib.h>

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

nw_status nw_route_cache_classify(struct nw_route_cache *routes)
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

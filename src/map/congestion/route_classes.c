/* SPDX-License-Identifier: BSD-3-Clause */
/* Seats that are alike but for links that nobody else uses: from a core up to
 * where the tree of its node branches. */
#include "map/congestion/route_cache.h"
#include "base/array.h"
#include "topology/topology.h"

#include <stdlib.h>

static bool is_climbing(const struct nw_node_type *type, struct nw_end end)
{
    uint8_t kind;

    if (end.nic >= 0 || end.vertex <= 0)
        return false;
    kind = type->kind[end.vertex];
    return (kind == NW_VERTEX_CORE || kind == NW_VERTEX_PU ||
            kind == NW_VERTEX_GPU) &&
           (!type->end_of || type->end_of[end.vertex] < 0);
}

/* Of each vertex. */
static nw_status count_children(const struct nw_node_type *type,
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

/* None of a vertex that something hangs from. */
static uint32_t count_own(const struct nw_node_type *type, struct nw_end end,
                          const int32_t *children)
{
    int32_t v = end.vertex;
    uint32_t count = 0;

    if (!is_climbing(type, end) || children[v])
        return 0;
    do {
        v = type->parent[v];
        count++;
    } while (v > 0 && children[v] == 1);
    return count;
}

static nw_status find_own(struct nw_ways *ways)
{
    const nw_topology *topology = ways->topology;
    const struct nw_node_type *last = NULL;
    int32_t *children = NULL;
    nw_status status = NW_OK;

    for (int32_t s = 0; !status && s < ways->count; s++) {
        struct nw_end end = ways->end[s];
        const struct nw_node_type *type =
            nw_topology_type_of(topology, end.node);

        if (ways->joins && !topology->matrix && type != last)
            status = count_children(type, &children);
        last = type;
        ways->own[s + 1] =
            ways->own[s] +
            (children && !status ? count_own(type, end, children) : 0);
    }
    free(children);
    return status;
}

static void fill_own(struct nw_ways *ways, int32_t s)
{
    const nw_topology *topology = ways->topology;
    struct nw_end end = ways->end[s];
    const struct nw_node_type *type = nw_topology_type_of(topology, end.node);

    for (uint32_t i = ways->own[s]; i < ways->own[s + 1]; i++) {
        for (int in = 0; in < 2; in++)
            ways->own_hop[i][in] = nw_topology_hop(
                topology, type->class[end.vertex],
                topology -> link_first[end.node] + end.vertex, in);
        end.vertex = type->parent[end.vertex];
    }
}

static bool are_twins(const struct nw_ways *ways, int32_t s, int32_t t)
{
    const uint32_t *own = ways->own;
    struct nw_end a = ways->end[s], b = ways->end[t];
    const struct nw_node_type *type =
        nw_topology_type_of(ways->topology, a.node);

    if (own[s] == own[s + 1] || own[s + 1] - own[s] != own[t + 1] - own[t] ||
        type->kind[a.vertex] != type->kind[b.vertex] ||
        (type->nearest_nic &&
         type->nearest_nic[a.vertex] != type->nearest_nic[b.vertex]))
        return false;
    for (uint32_t i = own[s]; i < own[s + 1]; i++) {
        if (type->class[a.vertex] != type->class[b.vertex])
            return false;
        a.vertex = type->parent[a.vertex];
        b.vertex = type->parent[b.vertex];
    }
    return a.vertex == b.vertex;
}

/* Of seats of one node, which come one after the other. */
static int32_t find_nook(const struct nw_ways *ways, int32_t s)
{
    for (int32_t n = ways->nooks - 1; n >= 0; n--) {
        int32_t t = ways->seat[n][0];

        if (ways->end[t].node != ways->end[s].node)
            break;
        if (are_twins(ways, s, t))
            return n;
    }
    return ways->nooks;
}

nw_status nw_ways_join(struct nw_ways *ways)
{
    size_t n = (size_t)ways->count;
    nw_status status = nw_alloc(n, sizeof *ways->nook, &ways->nook);

    if (!status)
        status = nw_alloc(n, sizeof *ways->seat, &ways->seat);
    if (!status)
        status = nw_alloc(n + 1, sizeof *ways->own, &ways->own);
    if (!status)
        status = find_own(ways);
    if (!status)
        status = nw_alloc(ways->own[n], sizeof *ways->own_hop, &ways->own_hop);
    for (int32_t s = 0; !status && s < ways->count; s++) {
        int32_t nook = ways->joins ? find_nook(ways, s) : ways->nooks;

        fill_own(ways, s);
        if (nook == ways->nooks)
            ways->seat[ways->nooks++][0] = s;
        ways->nook[s] = nook;
        ways->seat[nook][1] = s;
    }
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sorts the vertices of a node type and the link classes, so that the same
 * machine has the same order for every source. In a type, processor vertices
 * come first, then bridges (PCIe switches and boards), GPUs, NICs and GPU
 * switches; a type with a processor below a device keeps its order. Classes
 * have the order of their first use. A cluster file that is written and read
 * again then gives the same machine.
 */
#include "base/array.h"
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

/* The new order of a type's vertices. */
struct canonical_order {
    const struct nw_node_type *type;
    /* [vertex] the first child of each vertex, and its next sibling; -1:
     * none */
    int32_t *first, *next;
    /* [old number of a vertex] its new number; `count` vertices have one so far
     */
    int32_t *place;
    int32_t count;
};

/* Returns the position of a kind of vertex in the order: 0 for processors. */
static int canonical_rank_of(uint8_t kind)
{
    switch (kind) {
    case NW_VERTEX_BRIDGE:
    case NW_VERTEX_BOARD:
        return 1;
    case NW_VERTEX_GPU:
        return 2;
    case NW_VERTEX_NIC:
        return 3;
    case NW_VERTEX_GPU_SWITCH:
        return 4;
    default:
        return 0;
    }
}

/* Gives the next numbers to all vertices whose kind has this position. */
static void canonical_take_rank(struct canonical_order *order, int rank)
{
    for (int32_t v = 0; v < order->type->vertex_count; v++)
        if (canonical_rank_of(order->type->kind[v]) == rank)
            order->place[v] = order->count++;
}

/* Numbers the bridges below vertex v depth first. The bridges directly below a
 * processor come before the bridges of the processors inside it. */
static void take_bridges(struct canonical_order *order, int32_t v)
{
    for (int rank = 1; rank >= 0; rank--)
        for (int32_t c = order->first[v]; c >= 0; c = order->next[c]) {
            if (canonical_rank_of(order->type->kind[c]) != rank)
                continue;
            if (rank == 1)
                order->place[c] = order->count++;
            take_bridges(order, c);
        }
}

static nw_status canonical_list_children(struct canonical_order *order)
{
    size_t n = (size_t)order->type->vertex_count;
    nw_status status = nw_alloc(n, sizeof *order->first, &order->first);

    if (!status)
        status = nw_alloc(n, sizeof *order->next, &order->next);
    if (!status)
        status = nw_alloc(n, sizeof *order->place, &order->place);
    if (status)
        return status;
    for (size_t v = 0; v < n; v++)
        order->first[v] = order->next[v] = -1;
    for (size_t v = n; v-- > 1;) {
        int32_t parent = order->type->parent[v];

        order->next[v] = order->first[parent];
        order->first[parent] = (int32_t)v;
    }
    return NW_OK;
}

/* Renumbers the vertices of a type: vertex v becomes place[v]. */
static nw_status canonical_permute(struct nw_node_type *type,
                                   const int32_t *place)
{
    size_t n = (size_t)type->vertex_count;
    int32_t *parent = NULL, *class = NULL;
    uint8_t *kind = NULL;
    nw_status status = nw_alloc(n, sizeof *parent, &parent);

    if (!status)
        status = nw_alloc(n, sizeof *class, &class);
    if (!status)
        status = nw_alloc(n, sizeof *kind, &kind);
    for (size_t v = 0; !status && v < n; v++) {
        parent[place[v]] = type->parent[v] < 0 ? -1 : place[type->parent[v]];
        class[place[v]] = type->class[v];
        kind[place[v]] = type->kind[v];
    }
    if (!status) {
        memcpy(type->parent, parent, n * sizeof *parent);
        memcpy(type->class, class, n * sizeof *class);
        memcpy(type->kind, kind, n * sizeof *kind);
        for (int32_t d = 0; d < type->direct_count; d++) {
            type->direct[d].a = place[type->direct[d].a];
            type->direct[d].b = place[type->direct[d].b];
        }
    }
    free(parent);
    free(class);
    free(kind);
    return status;
}

/* Returns true if the parent of each processor is a processor, and the parent
 * of every other vertex is a processor or a bridge. Types with other parents
 * keep their order. */
static bool is_usual(const struct nw_node_type *type)
{
    for (int32_t v = 1; v < type->vertex_count; v++) {
        int above = canonical_rank_of(type->kind[type->parent[v]]);

        if (above > 1 || above > canonical_rank_of(type->kind[v]))
            return false;
    }
    return true;
}

nw_status nw_node_type_order(struct nw_node_type *type)
{
    struct canonical_order order = {.type = type};
    nw_status status;

    if (!is_usual(type))
        return NW_OK;
    status = canonical_list_children(&order);
    if (!status) {
        canonical_take_rank(&order, 0);
        take_bridges(&order, 0);
        for (int rank = 2; rank <= 4; rank++)
            canonical_take_rank(&order, rank);
        status = canonical_permute(type, order.place);
    }
    free(order.first);
    free(order.next);
    free(order.place);
    return status;
}

/* The new numbers of link classes, in the order of their first use. `count`
 * classes have one so far. */
struct classes {
    /* [old number of a class] its new number; -1 while no link that uses the
     * class was found */
    int32_t *place;
    int32_t count;
};

/* Gives a link class its new number when it is found for the first time, and
 * replaces *class by that number. Does nothing if *class is -1, no class. */
static void canonical_meet(void *user, int32_t *class)
{
    struct classes *classes = user;

    if (*class < 0)
        return;
    if (classes->place[*class] < 0)
        classes->place[*class] = classes->count++;
    *class = classes->place[*class];
}

static void meet_all(nw_topology *topology, struct classes *classes)
{
    for (int32_t t = 0; t < topology->type_count; t++) {
        struct nw_node_type *type = topology->type[t];

        for (int32_t v = 0; v < type->vertex_count; v++)
            canonical_meet(classes, &type->class[v]);
        for (int32_t d = 0; d < type->direct_count; d++)
            canonical_meet(classes, &type->direct[d].class);
    }
    if (topology->network) {
        nw_network_visit(topology->network, canonical_meet, classes);
        for (int32_t p = 0; p < topology->port_first[topology->node_count]; p++)
            canonical_meet(classes, &topology->port_class[p]);
    }
    for (int32_t d = 0; topology->upper && d < topology->domain_count; d++)
        canonical_meet(classes, &topology->uplink_class[d]);
}

nw_status nw_topology_order_classes(nw_topology *topology)
{
    size_t n = (size_t)topology->class_count;
    struct classes classes = {0};
    struct nw_link_class *figures = NULL;
    nw_status status = nw_alloc(n, sizeof *classes.place, &classes.place);

    if (!status)
        status = nw_alloc(n, sizeof *figures, &figures);
    if (status) {
        free(classes.place);
        return status;
    }
    for (size_t c = 0; c < n; c++)
        classes.place[c] = -1;
    meet_all(topology, &classes);
    for (size_t c = 0; c < n; c++)
        if (classes.place[c] >= 0)
            figures[classes.place[c]] = topology->class[c];
    free(topology->class);
    topology->class = figures;
    topology->class_count = classes.count;
    topology->class_capacity = n;
    free(classes.place);
    return NW_OK;
}

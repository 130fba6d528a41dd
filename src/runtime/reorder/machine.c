/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds a topology whose elements are the members' locations. Sorts the
 * members by the switches above their node, by node, and by location in the
 * node. They are then the leaves of one tree: each run of members with an equal
 * prefix is a switch, a node, or a part of a node. */
#include "runtime/reorder/machine.h"

#include "base/array.h"
#include "base/status.h"
#include "topology/network/networks.h"
#include "topology/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct building {
    const struct nw_job_location *job;
    const int *world;
    int count;
    int32_t *member; /* [count] numbers of the members, sorted */
    nw_topology *topology;
    int32_t depth; /* greatest `depth` of the members' locations */
    int32_t inner; /* class of the links inside nodes */
    int32_t outer; /* class of the links from nodes to switches */
    int32_t *leaf; /* [nodes] switch above each node */
    struct nw_network *network;
};

static const struct nw_rank_location *
machine_location_of(const struct building *b, int i)
{
    return &b->job->location[b->world[b->member[i]]];
}

static const int32_t *machine_switches_of(const struct building *b, int i)
{
    return &b->job->above[machine_location_of(b, i)->node * NW_SWITCH_DEPTH];
}

static int compare_ints(const int32_t *a, const int32_t *b, int count)
{
    for (int i = 0; i < count; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int compare_members(const void *left, const void *right, void *context)
{
    const struct building *b = context;
    int32_t l = *(const int32_t *)left, r = *(const int32_t *)right;
    const struct nw_rank_location *x = &b->job->location[b->world[l]];
    const struct nw_rank_location *y = &b->job->location[b->world[r]];
    int order = compare_ints(&b->job->above[x->node * NW_SWITCH_DEPTH],
                             &b->job->above[y->node * NW_SWITCH_DEPTH],
                             NW_SWITCH_DEPTH);
    int depth = x->depth < y->depth ? x->depth : y->depth;

    if (!order)
        order = compare_ints(&x->node, &y->node, 1);
    if (!order)
        order = compare_ints(x->at, y->at, depth);
    if (!order)
        order = compare_ints(&x->depth, &y->depth, 1);
    return order ? order : compare_ints(&l, &r, 1);
}

/* Adds a leaf for a location at `depth`. Inserts vertices above it, so that all
 * leaves have the same depth. Then a path inside a node is always shorter than
 * a path over the network, even if ranks are bound to large parts of a node. */
static nw_status add_leaf(struct building *b, struct nw_node_type *type,
                          int depth, int32_t parent)
{
    nw_status status = NW_OK;
    int32_t vertex = parent;

    for (; !status && depth < b->depth; depth++)
        status =
            nw_node_type_add(type, vertex, NW_VERTEX_GROUP, b->inner, &vertex);
    return status ? status
                  : nw_node_type_add(type, vertex, NW_VERTEX_CORE, b->inner,
                                     &vertex);
}

/* Adds a subtree below `parent` for the locations from `first` to `end` - 1,
 * which have the first `depth` vertices of their paths in common. It has inner
 * vertices, and a leaf for each location. */
static nw_status add_locations(struct building *b, struct nw_node_type *type,
                               int first, int end, int depth, int32_t parent)
{
    nw_status status = NW_OK;
    int32_t vertex;

    while (!status && first < end) {
        const struct nw_rank_location *location = machine_location_of(b, first);
        int next = first + 1;

        if (location->depth <= depth) {
            status = add_leaf(b, type, depth, parent);
            first = next;
            continue;
        }
        while (next < end && machine_location_of(b, next)->depth > depth &&
               machine_location_of(b, next)->at[depth] == location->at[depth])
            next++;
        status =
            nw_node_type_add(type, parent, NW_VERTEX_GROUP, b->inner, &vertex);
        if (!status)
            status = add_locations(b, type, first, next, depth + 1, vertex);
        first = next;
    }
    return status;
}

static bool machine_same_type(const struct nw_node_type *a,
                              const struct nw_node_type *b)
{
    return a->vertex_count == b->vertex_count &&
           !memcmp(a->parent, b->parent,
                   (size_t)a->vertex_count * sizeof *a->parent) &&
           !memcmp(a->kind, b->kind, (size_t)a->vertex_count);
}

/* Sets *out to the type of the node whose locations are `first` to `end` - 1.
 * Reuses an equal earlier type, or adds a new one. */
static nw_status machine_add_type(struct building *b, int first, int end,
                                  int32_t *out)
{
    struct nw_node_type *type;
    char name[32];
    nw_status status;

    snprintf(name, sizeof name, "node%d", b->topology->type_count);
    status = nw_node_type_new(b->topology, name, &type);
    if (!status)
        status = add_locations(b, type, first, end, 0, 0);
    if (status)
        return status;
    *out = b->topology->type_count - 1;
    for (int32_t t = 0; t < *out; t++)
        if (machine_same_type(b->topology->type[t], type)) {
            nw_topology_drop_last_type(b->topology);
            *out = t;
            break;
        }
    return NW_OK;
}

static int end_of_node(const struct building *b, int first)
{
    int end = first + 1;

    while (end < b->count && machine_location_of(b, end)->node ==
                                 machine_location_of(b, first)->node)
        end++;
    return end;
}

static int count_nodes(const struct building *b)
{
    int nodes = 0;

    for (int i = 0; i < b->count; i = end_of_node(b, i))
        nodes++;
    return nodes;
}

/* Adds the switches of the tree to b->network: the root, and one switch for
 * each distinct prefix of a path of switches. If b->network is NULL, only
 * counts them. Sets *out_count to their number. */
static nw_status machine_add_switches(struct building *b, int32_t *out_count)
{
    int32_t path[NW_SWITCH_DEPTH] = {0}, count = 1, node = 0;
    const int32_t *before = NULL;
    nw_status status = NW_OK;

    for (int i = 0; !status && i < b->count; i = end_of_node(b, i)) {
        const int32_t *above = machine_switches_of(b, i);
        int32_t at = 0;
        bool fresh = !before;

        for (int d = 0; !status && d < NW_SWITCH_DEPTH && above[d] >= 0; d++) {
            fresh = fresh || above[d] != before[d];
            if (fresh)
                path[d] = count++;
            if (fresh && b->network) {
                b->network->parent[path[d]] = at;
                status = nw_network_add_link(b->network, path[d], at, b->outer,
                                             &b->network->uplink[path[d]]);
            }
            at = path[d];
        }
        before = above;
        if (b->network)
            b->leaf[node++] = at;
    }
    *out_count = count;
    return status;
}

static nw_status machine_build_tree(struct building *b)
{
    int32_t count;
    nw_status status = machine_add_switches(b, &count);

    if (!status)
        status = nw_network_new(count, &b->network);
    if (!status)
        status = nw_alloc((size_t)count, sizeof *b->network->parent,
                          &b->network->parent);
    if (!status)
        status = nw_alloc((size_t)count, sizeof *b->network->uplink,
                          &b->network->uplink);
    if (status)
        return status;
    b->network->parent[0] = b->network->uplink[0] = -1;
    for (int32_t s = 0; !status && s < count; s++)
        status = nw_network_name(b->network, s, "s%d", s);
    if (!status)
        status = machine_add_switches(b, &count);
    return status ? status : nw_network_finish_tree(b->network);
}

struct taking {
    const nw_topology *from;
    nw_topology *to;
    nw_status status;
};

static void machine_take_class(void *user, int32_t *class)
{
    struct taking *taking = user;

    if (*class >= 0 && !taking->status)
        taking->status =
            nw_topology_class(taking->to, &taking->from->class[*class], class);
}

/* Takes a network that is not a tree from its topology source, and copies the
 * link classes that this network uses. */
static nw_status take_source(struct building *b)
{
    struct taking taking = {.to = b->topology};
    nw_topology *from;
    nw_status status = nw_topology_load(b->job->source, NULL, &from);
    int node = 0;

    if (status)
        return status;
    taking.from = from;
    b->network = from->network;
    from->network = NULL;
    nw_network_visit(b->network, machine_take_class, &taking);
    for (int i = 0; i < b->count; i = end_of_node(b, i))
        b->leaf[node++] = nw_topology_switch_of(
            from, b->job->number[machine_location_of(b, i)->node], -1);
    nw_topology_free(from);
    return taking.status;
}

static nw_status machine_add_network(struct building *b, int nodes)
{
    nw_status status;

    if (nodes < 2)
        return NW_OK;
    status = nw_alloc((size_t)nodes, sizeof *b->leaf, &b->leaf);
    if (!status)
        status = b->job->source ? take_source(b) : machine_build_tree(b);
    if (status) {
        nw_network_free(b->network);
        return status;
    }
    nw_topology_take_network(b->topology, b->network);
    return NW_OK;
}

static nw_status machine_add_nodes(struct building *b, int nodes)
{
    int node = 0;
    nw_status status =
        nw_topology_set_nodes(b->topology, nodes, nodes > 1 ? nodes : 0);

    for (int i = 0; !status && i < b->count; i = end_of_node(b, i), node++) {
        char name[32];

        snprintf(name, sizeof name, "n%d", machine_location_of(b, i)->node);
        status = nw_strdup(name, &b->topology->node_name[node]);
        if (!status)
            status = machine_add_type(b, i, end_of_node(b, i),
                                      &b->topology->node_type[node]);
        if (nodes < 2)
            continue;
        b->topology->port_first[node + 1] = node + 1;
        b->topology->port[node] = b->leaf[node];
        b->topology->port_class[node] = b->outer;
    }
    return status;
}

static nw_status machine_build(struct building *b)
{
    struct nw_link_class inner = nw_link_assumed(NW_LINK_CORE);
    struct nw_link_class outer = nw_link_assumed(NW_LINK_NIC);
    int nodes = count_nodes(b);
    nw_status status = nw_topology_new("job", &b->topology);

    if (!status)
        status = nw_topology_class(b->topology, &inner, &b->inner);
    if (!status)
        status = nw_topology_class(b->topology, &outer, &b->outer);
    if (!status)
        status = machine_add_network(b, nodes);
    if (!status)
        status = machine_add_nodes(b, nodes);
    if (!status)
        status = nw_topology_finish(b->topology, NW_ELEMENTS_CORE);
    return status;
}

nw_status nw_machine_of(const struct nw_job_location *job, const int *world,
                        int count, nw_topology **out, int32_t **member)
{
    struct building b = {.job = job, .world = world, .count = count};
    nw_status status = nw_alloc((size_t)count, sizeof *b.member, &b.member);

    if (status)
        return status;
    for (int i = 0; i < count; i++) {
        const struct nw_rank_location *location = &job->location[world[i]];

        b.member[i] = i;
        b.depth = location->depth > b.depth ? location->depth : b.depth;
    }
    qsort_r(b.member, (size_t)count, sizeof *b.member, compare_members, &b);
    status = machine_build(&b);
    free(b.leaf);
    if (status) {
        nw_topology_free(b.topology);
        free(b.member);
        return status;
    }
    *out = b.topology;
    *member = b.member;
    return NW_OK;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes distances and routes. Inside a node, a route takes the direct links
 * between both ends, also through GPU switches, if they are connected by such
 * links, and otherwise the tree. Between two nodes of an NVLink domain, the
 * route between GPUs takes their GPU switch; between two domains of an upper
 * domain, also the uplinks of both. Other routes between nodes leave
 * and enter by the NIC of each end (nearest by default); with PXN, the message
 * first goes to another GPU of the sender's node.
 */
#include "topology/topology.h"

/* Returns the vertex from which messages of v go to the NIC. For a GPU of a
 * node type with `staged`, this is the nearest NUMA node or package above the
 * GPU, or the node itself. Otherwise it is v. */
static int32_t sending_vertex(const struct nw_node_type *type, int32_t v)
{
    if (!type->staged || type->kind[v] != NW_VERTEX_GPU)
        return v;
    while (type->parent[v] >= 0 && type->kind[v] != NW_VERTEX_NUMA &&
           type->kind[v] != NW_VERTEX_PACKAGE)
        v = type->parent[v];
    return v;
}

/* Returns the number of tree links between two vertices of a node. */
static int32_t tree_links(const struct nw_node_type *type, int32_t a, int32_t b)
{
    int32_t top = nw_node_type_common(type, a, b);

    return type->depth[a] + type->depth[b] - 2 * type->depth[top];
}

/* Returns the number of links between two vertices of a node, over direct links
 * or the tree. */
static int32_t links_inside(const struct nw_node_type *type, int32_t a,
                            int32_t b)
{
    int32_t count = 0, d;

    if (nw_node_type_next(type, a, b) < 0)
        return tree_links(type, a, b);
    for (; a != b; count++) {
        d = nw_node_type_next(type, a, b);
        a = type->direct[d].a == a ? type->direct[d].b : type->direct[d].a;
    }
    return count;
}

/* Returns the number of links from an end to the switch of its NIC, including
 * the link from the NIC to the switch and the links to the vertex where
 * messages are staged. */
static int32_t links_out(const nw_topology *topology, struct nw_end end)
{
    const struct nw_node_type *type = nw_topology_type_of(topology, end.node);
    int32_t card = nw_end_card(topology, end);
    int32_t v = sending_vertex(type, end.vertex);
    int32_t staging = tree_links(type, end.vertex, v);

    if (card < 0)
        return staging + type->depth[v] + 1;
    return staging + tree_links(type, v, type->nic[card]) + 1;
}

/* If the network has several unconnected parts (rails), selects NICs of both
 * ends on the same rail. */
static void stay_on_rail(const nw_topology *topology, struct nw_end *a,
                         struct nw_end *b)
{
    if (topology->network->component)
        nw_rails_choose(topology, a, b);
}

/* Returns the port by which messages of an end leave or reach its node. */
static struct nw_network_end network_end(const nw_topology *topology,
                                         struct nw_end end)
{
    int32_t card = nw_end_card(topology, end);

    return (struct nw_network_end){
        nw_topology_switch_of(topology, end.node, card), end.node,
        card < 0 ? 0 : card};
}

/* Returns the number of network links between the switches of two ends. */
static int32_t links_between(const nw_topology *topology, struct nw_end a,
                             struct nw_end b)
{
    return topology->network->ops->distance(topology->network,
                                            network_end(topology, a).at,
                                            network_end(topology, b));
}

/* Returns the number of links between two ends on different nodes, if messages
 * leave by their NICs. */
static int32_t links_across(const nw_topology *topology, struct nw_end a,
                            struct nw_end b)
{
    int32_t sender = nw_pxn_sender(topology, a, b), inside = 0;

    if (sender != a.vertex)
        inside = links_inside(nw_topology_type_of(topology, a.node), a.vertex,
                              sender);
    a.vertex = sender;
    stay_on_rail(topology, &a, &b);
    return inside + links_out(topology, a) + links_out(topology, b) +
           links_between(topology, a, b);
}

int32_t nw_topology_stripe_count(const nw_topology *topology, struct nw_end a,
                                 struct nw_end b)
{
    const struct nw_node_type *from = nw_topology_type_of(topology, a.node);
    const struct nw_node_type *to = nw_topology_type_of(topology, b.node);
    int32_t most = from->stripe_count > to->stripe_count ? from->stripe_count
                                                         : to->stripe_count;

    if (most <= 1 || a.node == b.node || a.nic != -1 || b.nic != -1 ||
        from->kind[a.vertex] != NW_VERTEX_GPU ||
        to->kind[b.vertex] != NW_VERTEX_GPU || nw_domain_joins(topology, a, b))
        return 1;
    return most;
}

double nw_topology_distance(const nw_topology *topology, struct nw_end a,
                            struct nw_end b)
{
    const struct nw_node_type *type = nw_topology_type_of(topology, a.node);

    if (a.node != b.node) {
        int joins = nw_domain_joins(topology, a, b);

        return joins ? 2 * joins : links_across(topology, a, b);
    }
    if (topology->matrix)
        return topology->matrix[(size_t)type->index[a.vertex] *
                                    (size_t)type->element_count +
                                (size_t)type->index[b.vertex]];
    if (a.vertex == b.vertex)
        return 0;
    if (topology->depth_distance)
        return topology->depth_distance[type->depth[nw_node_type_common(
            type, a.vertex, b.vertex)]];
    return links_inside(type, a.vertex, b.vertex);
}

void nw_topology_distances(const nw_topology *topology, struct nw_end from,
                           const struct nw_end *to, size_t count, double *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = nw_topology_distance(topology, from, to[i]);
}

uint32_t nw_topology_hop(const nw_topology *topology, int32_t class,
                         int32_t link, int direction)
{
    bool both = class >= 0 && topology->class[class].half_duplex;

    return 2 * (uint32_t)link + (both ? 0 : (uint32_t)direction);
}

/* Writes the hops over the tree links of a node from vertex a up to the common
 * ancestor and down to b. Returns their number. */
static size_t emit_tree(const nw_topology *topology, int32_t node, int32_t a,
                        int32_t b, uint32_t *hops)
{
    const struct nw_node_type *type = nw_topology_type_of(topology, node);
    int32_t top = nw_node_type_common(type, a, b);
    int32_t first = topology->link_first[node];
    size_t count = (size_t)(type->depth[a] - type->depth[top]);
    size_t total = count + (size_t)(type->depth[b] - type->depth[top]);
    size_t at = 0;

    for (; a != top; a = type->parent[a])
        hops[at++] = nw_topology_hop(topology, type->class[a], first + a, 0);
    for (at = total; b != top; b = type->parent[b])
        hops[--at] = nw_topology_hop(topology, type->class[b], first + b, 1);
    return total;
}

static size_t emit_inside(const nw_topology *topology, int32_t node, int32_t a,
                          int32_t b, uint32_t *hops)
{
    const struct nw_node_type *type = nw_topology_type_of(topology, node);
    int32_t first = topology->link_first[node] + type->vertex_count;
    size_t count = 0;

    if (nw_node_type_next(type, a, b) < 0)
        return emit_tree(topology, node, a, b, hops);
    while (a != b) {
        int32_t d = nw_node_type_next(type, a, b);
        const struct nw_direct_link *link = &type->direct[d];
        bool back = link->b == a;

        hops[count++] = nw_topology_hop(topology, link->class, first + d, back);
        a = back ? link->a : link->b;
    }
    return count;
}

/* Returns the hop from a GPU to the GPU switch of its node or, if `back`, from
 * the switch to the GPU. */
static uint32_t switch_hop(const nw_topology *topology, struct nw_end gpu,
                           bool back)
{
    const struct nw_node_type *type = nw_topology_type_of(topology, gpu.node);
    int32_t d = nw_node_type_next(type, gpu.vertex, type->gpu_switch);
    const struct nw_direct_link *link = &type->direct[d];

    return nw_topology_hop(topology, link->class,
                           topology->link_first[gpu.node] + type->vertex_count +
                               d,
                           (link->b == gpu.vertex) != back);
}

/* Returns the hop over the uplink of the node's NVLink domain. */
static uint32_t uplink_hop(const nw_topology *topology, int32_t node,
                           int direction)
{
    int32_t domain = topology->domain[node];

    return nw_topology_hop(topology, topology->uplink_class[domain],
                           nw_domain_uplink(topology, domain), direction);
}

/* Writes the hops between GPUs of two nodes that NVLink joins, by way of the
 * GPU switch of their domain or, if `joins` is 2, by way of the switches and
 * uplinks of their domains. Returns the number of hops. */
static size_t emit_domain(const nw_topology *topology, struct nw_end a,
                          struct nw_end b, int joins, uint32_t *hops)
{
    size_t count = 0;

    hops[count++] = switch_hop(topology, a, false);
    if (joins == 2) {
        hops[count++] = uplink_hop(topology, a.node, 0);
        hops[count++] = uplink_hop(topology, b.node, 1);
    }
    hops[count++] = switch_hop(topology, b, true);
    return count;
}

/* Writes the hops from `a` to the GPU that sends for it under PXN, and sets
 * a->vertex to that GPU. Returns the number of hops, which may be 0. */
static size_t emit_pxn(const nw_topology *topology, struct nw_end *a,
                       struct nw_end b, uint32_t *hops)
{
    int32_t sender = nw_pxn_sender(topology, *a, b);
    size_t count = sender == a->vertex ? 0
                                       : emit_inside(topology, a->node,
                                                     a->vertex, sender, hops);

    a->vertex = sender;
    return count;
}

/* Returns the hop number (nw_topology_hop) of one direction of the link between
 * a node and its switch: the link of the NIC `card`, or the node's own link if
 * card is -1. */
static uint32_t port_hop(const nw_topology *topology, int32_t node,
                         int32_t card, int direction)
{
    const struct nw_node_type *type = nw_topology_type_of(topology, node);
    int32_t link = topology->link_first[node];
    int32_t port = topology->port_first[node];

    if (card >= 0) {
        link += type->vertex_count + type->direct_count + card;
        port += card;
    }
    return nw_topology_hop(topology, topology->port_class[port], link,
                           direction);
}

/* Writes the hops from an end to the switch of its NIC. Returns their number.
 */
static size_t emit_out(const nw_topology *topology, struct nw_end end,
                       uint32_t *hops)
{
    const struct nw_node_type *type = nw_topology_type_of(topology, end.node);
    int32_t card = nw_end_card(topology, end);
    int32_t v = sending_vertex(type, end.vertex);
    int32_t nic = card < 0 ? 0 : type->nic[card];
    size_t count = emit_tree(topology, end.node, end.vertex, v, hops);

    count += emit_tree(topology, end.node, v, nic, hops + count);
    hops[count++] = port_hop(topology, end.node, card, 0);
    return count;
}

/* Writes the hops from the switch of an end's NIC to the end. Returns their
 * number. */
static size_t emit_in(const nw_topology *topology, struct nw_end end,
                      uint32_t *hops)
{
    const struct nw_node_type *type = nw_topology_type_of(topology, end.node);
    int32_t card = nw_end_card(topology, end);
    int32_t v = sending_vertex(type, end.vertex);
    int32_t nic = card < 0 ? 0 : type->nic[card];
    size_t count = 0;

    hops[count++] = port_hop(topology, end.node, card, 1);
    count += emit_tree(topology, end.node, nic, v, hops + count);
    return count + emit_tree(topology, end.node, v, end.vertex, hops + count);
}

static size_t emit_network(const nw_topology *topology, struct nw_end a,
                           struct nw_end b, uint32_t *hops)
{
    const struct nw_network *network = topology->network;
    size_t count = network->ops->route(network, network_end(topology, a).at,
                                       network_end(topology, b), hops);

    for (size_t i = 0; i < count; i++)
        hops[i] = nw_topology_hop(topology, network->link_class[hops[i] / 2],
                                  (int32_t)(hops[i] / 2), hops[i] & 1);
    return count;
}

size_t nw_topology_route(const nw_topology *topology, struct nw_end a,
                         struct nw_end b, uint32_t *hops)
{
    size_t count;
    int joins;

    if (topology->matrix || (a.node == b.node && a.vertex == b.vertex))
        return 0;
    if (a.node == b.node)
        return emit_inside(topology, a.node, a.vertex, b.vertex, hops);
    joins = nw_domain_joins(topology, a, b);
    if (joins)
        return emit_domain(topology, a, b, joins, hops);
    count = emit_pxn(topology, &a, b, hops);
    stay_on_rail(topology, &a, &b);
    count += emit_out(topology, a, hops + count);
    count += emit_network(topology, a, b, hops + count);
    return count + emit_in(topology, b, hops + count);
}

int32_t nw_topology_level(const nw_topology *topology, struct nw_end a,
                          struct nw_end b)
{
    const struct nw_node_type *type;
    int32_t top;

    if (a.node == b.node && a.vertex == b.vertex)
        return 0;
    if (topology->matrix)
        return 1;
    if (a.node != b.node) {
        int joins = nw_domain_joins(topology, a, b);

        if (joins)
            return NW_VERTEX_KIND_COUNT + joins;
        a.vertex = nw_pxn_sender(topology, a, b);
        stay_on_rail(topology, &a, &b);
        return nw_domain_last_level(topology) + 1 +
               links_between(topology, a, b);
    }
    type = nw_topology_type_of(topology, a.node);
    if (nw_node_type_next(type, a.vertex, b.vertex) >= 0)
        return NW_VERTEX_KIND_COUNT + 1;
    top = nw_node_type_common(type, a.vertex, b.vertex);
    if (topology->depth_distance)
        return topology->depth_count - type->depth[top];
    return NW_VERTEX_KIND_COUNT - type->kind[top];
}

/* --- routes as segments and hops, for nw_topology_path --- */

static void add_segment(const nw_topology *topology, int32_t node, int32_t from,
                        int32_t to, struct nw_path *path)
{
    const struct nw_node_type *type = nw_topology_type_of(topology, node);

    if (from != to)
        path->segment[path->segment_count++] = (struct nw_segment){
            node, from, nw_node_type_common(type, from, to), to};
}

/* Adds the segment from a to b in the tree of one node, and sets the distance
 * and the level from their common ancestor. */
static void stay_inside(const nw_topology *topology, int32_t node, int32_t a,
                        int32_t b, struct nw_path *path)
{
    const struct nw_node_type *type = nw_topology_type_of(topology, node);
    int32_t top;

    add_segment(topology, node, a, b, path);
    top = path->segment[0].top;
    if (topology->depth_distance) {
        path->distance = topology->depth_distance[type->depth[top]];
        path->level = topology->depth_count - type->depth[top];
    } else {
        path->distance = type->depth[a] + type->depth[b] - 2 * type->depth[top];
        path->level = NW_VERTEX_KIND_COUNT - type->kind[top];
    }
}

/* Adds the segments from an end to its NIC. The link from the NIC to the switch
 * is not part of a segment; the caller writes it as a hop. */
static void route_leave(const nw_topology *topology, struct nw_end end,
                        struct nw_path *path)
{
    const struct nw_node_type *type = nw_topology_type_of(topology, end.node);
    int32_t card = nw_end_card(topology, end);
    int32_t v = sending_vertex(type, end.vertex);

    add_segment(topology, end.node, end.vertex, v, path);
    add_segment(topology, end.node, v, card < 0 ? 0 : type->nic[card], path);
}

/* Swaps the ends of each segment from number `first` on. These segments were
 * added from an end to its NIC; their order does not matter. */
static void turn_back(struct nw_path *path, int first)
{
    for (int i = first; i < path->segment_count; i++) {
        int32_t from = path->segment[i].from;

        path->segment[i].from = path->segment[i].to;
        path->segment[i].to = from;
    }
}

/* Writes the segments and hops of a route between two nodes that leaves by
 * NICs.
 */
static void route_cross(const nw_topology *topology, struct nw_end a,
                        struct nw_end b, struct nw_path *path, uint32_t *hops)
{
    size_t count = emit_pxn(topology, &a, b, hops);
    int sent;

    stay_on_rail(topology, &a, &b);
    route_leave(topology, a, path);
    sent = path->segment_count;
    route_leave(topology, b, path);
    turn_back(path, sent);
    hops[count++] = port_hop(topology, a.node, nw_end_card(topology, a), 0);
    hops[count++] = port_hop(topology, b.node, nw_end_card(topology, b), 1);
    path->hop_count = count + emit_network(topology, a, b, hops + count);
}

void nw_topology_path(const nw_topology *topology, const struct nw_end ends[2],
                      struct nw_path *path, uint32_t *hops)
{
    struct nw_end a = ends[0], b = ends[1];

    path->segment_count = 0;
    path->hop_count = 0;
    if (a.node == b.node && a.vertex != b.vertex && !topology->matrix &&
        nw_node_type_next(nw_topology_type_of(topology, a.node), a.vertex,
                          b.vertex) < 0) {
        stay_inside(topology, a.node, a.vertex, b.vertex, path);
        return;
    }
    path->distance = nw_topology_distance(topology, a, b);
    path->level = nw_topology_level(topology, a, b);
    if (a.node != b.node && !nw_domain_joins(topology, a, b))
        route_cross(topology, a, b, path, hops);
    else
        path->hop_count = nw_topology_route(topology, a, b, hops);
}

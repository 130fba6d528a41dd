/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the kind, the bandwidth and latency, and the name of a link. */
#include "topology/topology.h"

#include "base/array.h"

#include <stdio.h>

/* Returns the node to which a link belongs. The link must not belong to the
 * network or to an NVLink domain. */
static int32_t node_of_link(const nw_topology *topology, int32_t link)
{
    int32_t low = 0, high = topology->node_count;

    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;

        if (topology->link_first[middle] <= link)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int32_t nw_topology_link_class_of(const nw_topology *topology, int32_t link)
{
    int32_t networks = topology->network ? topology->network->link_count : 0;
    int32_t domain = link - nw_domain_uplink(topology, 0);
    const struct nw_node_type *type;
    int32_t node;

    if (link < networks)
        return topology->network->link_class[link];
    if (domain >= 0)
        return topology->uplink_class[domain];
    node = node_of_link(topology, link);
    type = nw_topology_type_of(topology, node);
    link -= topology->link_first[node];
    if (link >= type->vertex_count + type->direct_count && !topology->network)
        return -1; /* the link of a NIC in a topology without network */
    if (link >= type->vertex_count + type->direct_count)
        return topology->port_class[topology->port_first[node] + link -
                                    type->vertex_count - type->direct_count];
    if (link >= type->vertex_count)
        return type->direct[link - type->vertex_count].class;
    if (link > 0)
        return type->class[link];
    return topology->network && !type->nic_count
               ? topology->port_class[topology->port_first[node]]
               : -1;
}

struct nw_link_info nw_topology_link(const nw_topology *topology, int32_t link)
{
    int32_t class = nw_topology_link_class_of(topology, link);
    struct nw_link_class figures;

    if (class < 0) /* a number that no link uses, such as that from a node with
                      NICs to its switch */
        return (struct nw_link_info){.kind = NW_LINK_NIC, .bandwidth = {1, 1}};
    figures = topology->class[class];
    return (struct nw_link_info){
        .kind = (enum nw_link_kind)figures.kind,
        .bandwidth = {figures.bandwidth[0], figures.bandwidth[1]},
        .latency = figures.latency,
        .half_duplex = figures.half_duplex,
        .assumed = figures.assumed,
    };
}

static void vertex_name(const struct nw_node_type *type, int32_t v, char *out,
                        size_t size)
{
    if (v == 0)
        snprintf(out, size, "node");
    else
        snprintf(out, size, "%s %d",
                 nw_vertex_kind_name((enum nw_vertex_kind)type->kind[v]),
                 type->index[v]);
}

static void link_switch_name(const struct nw_network *network, int32_t s,
                             char *out, size_t size)
{
    if (network && network->switch_name[s])
        snprintf(out, size, "%s", network->switch_name[s]);
    else
        snprintf(out, size, "switch %d", s);
}

/* Names both ends of a link that belongs to a node. `link` is its number inside
 * the node. */
static void name_in_node(const nw_topology *topology, int32_t node,
                         int32_t link, char a[64], char b[64])
{
    const struct nw_node_type *type = nw_topology_type_of(topology, node);
    int32_t direct = link - type->vertex_count;
    int32_t card = direct - type->direct_count;

    if (card >= 0 || link == 0) {
        vertex_name(type, card >= 0 ? type->nic[card] : 0, a, 64);
        if (topology->network)
            link_switch_name(
                topology->network,
                nw_topology_switch_of(topology, node, card >= 0 ? card : -1), b,
                64);
        else
            snprintf(b, 64, "outside");
    } else if (direct >= 0) {
        vertex_name(type, type->direct[direct].a, a, 64);
        vertex_name(type, type->direct[direct].b, b, 64);
    } else {
        vertex_name(type, link, a, 64);
        vertex_name(type, type->parent[link], b, 64);
    }
}

const char *nw_topology_link_name(const nw_topology *topology, int32_t link,
                                  char *out, size_t size)
{
    int32_t networks = topology->network ? topology->network->link_count : 0;
    int32_t domain = link - nw_domain_uplink(topology, 0);
    char a[64], b[64];
    int32_t node;

    if (link < networks) {
        link_switch_name(topology->network, topology->network->link_a[link], a,
                         sizeof a);
        link_switch_name(topology->network, topology->network->link_b[link], b,
                         sizeof b);
        snprintf(out, size, "%s - %s", a, b);
        return out;
    }
    if (domain >= 0) {
        int32_t upper = topology->upper[domain];

        snprintf(out, size, "%s - %s", topology->domain_name[domain],
                 upper < 0 ? "outside" : topology->upper_name[upper]);
        return out;
    }
    node = node_of_link(topology, link);
    name_in_node(topology, node, link - topology->link_first[node], a, b);
    snprintf(out, size, "%s: %s - %s", topology->node_name[node], a, b);
    return out;
}

static bool same_figures(const struct nw_link_class *a,
                         const struct nw_link_class *b)
{
    return a->kind == b->kind && a->bandwidth[0] == b->bandwidth[0] &&
           a->bandwidth[1] == b->bandwidth[1] && a->latency == b->latency &&
           a->half_duplex == b->half_duplex && a->assumed == b->assumed;
}

nw_status nw_topology_class(nw_topology *topology,
                            const struct nw_link_class *figures, int32_t *out)
{
    nw_status status;

    for (int32_t c = topology->class_count - 1; c >= 0; c--)
        if (same_figures(&topology->class[c], figures)) {
            *out = c;
            return NW_OK;
        }
    status =
        nw_grow(&topology->class, &topology->class_capacity,
                (size_t)topology->class_count + 1, sizeof *topology->class);
    if (status)
        return status;
    topology->class[topology->class_count] = *figures;
    *out = topology->class_count++;
    return NW_OK;
}

nw_status nw_topology_class_of_rate(nw_topology *topology,
                                    enum nw_link_kind kind, double bandwidth,
                                    int32_t *out)
{
    struct nw_link_class figures = nw_link_assumed(kind);

    if (bandwidth > 0) {
        figures.bandwidth[0] = figures.bandwidth[1] = bandwidth;
        figures.assumed = false;
    }
    return nw_topology_class(topology, &figures, out);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the forwarding tables of a graph in a cluster file: for each switch,
 * the link that messages to a NIC of a node take. They are read last, when all
 * nodes have their switches. */
#include "base/array.h"
#include "base/name_index.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/cluster/cluster.h"
#include "topology/network/networks.h"

#include <stdlib.h>
#include <string.h>

#define MAX_TABLE ((size_t)1 << 28) /* largest number of entries */

/* The tables while they are read. */
struct tables {
    struct nw_cluster *cluster;
    struct nw_name_table nodes; /* of the node names */
    struct nw_graph_ports ports;
    int32_t *via;
};

/* An item of 'tables': messages to NIC number `card` of some nodes leave switch
 * `at` by link `link`. */
struct forwarding_tables_route {
    const struct nw_yaml *item;
    int32_t at, link, card;
};

/* Each switch's table names every node, so a binary search would take most of
 * the reading time. */
static nw_status forwarding_tables_index_nodes(struct tables *tables)
{
    const nw_topology *topology = tables->cluster->topology;
    nw_status status = NW_OK;
    size_t number;

    for (int32_t n = 0; !status && n < topology->node_count; n++)
        status = nw_name_table_note(&tables->nodes, topology->node_name,
                                    topology->node_name[n], &number);
    return status;
}

static nw_status forwarding_tables_prepare(struct tables *tables,
                                           const struct nw_yaml *list)
{
    const nw_topology *topology = tables->cluster->topology;
    size_t switches = (size_t)topology->network->switch_count;
    nw_status status = forwarding_tables_index_nodes(tables);

    if (!status)
        status = nw_graph_copy_ports(topology, &tables->ports);
    if (!status && switches * tables->ports.count > MAX_TABLE)
        status = nw_yaml_fail(list, "tables of more than 2^28 entries");
    if (!status)
        status = nw_alloc(switches * tables->ports.count, sizeof *tables->via,
                          &tables->via);
    if (status)
        return status;
    /* sets all entries to -1 */
    memset(tables->via, 0xff,
           switches * tables->ports.count * sizeof *tables->via);
    return NW_OK;
}

static nw_status forwarding_tables_find_node(const struct tables *tables,
                                             const struct nw_yaml *node,
                                             const char *name, int32_t *out)
{
    size_t found = nw_name_table_find(
        &tables->nodes, tables->cluster->topology->node_name, name);

    if (found == SIZE_MAX)
        return nw_yaml_fail(node, "unknown node '%s': not in this file", name);
    *out = (int32_t)found;
    return NW_OK;
}

static nw_status forwarding_tables_read_switch(struct nw_cluster *cluster,
                                               const struct nw_yaml *item,
                                               const char *key, int32_t *out)
{
    const struct nw_yaml *node;
    const char *name;
    nw_status status = nw_yaml_need(item, key, &node);

    if (!status)
        status = nw_yaml_text(node, &name);
    return status ? status : nw_cluster_find_switch(cluster, node, name, out);
}

/* Sets route->link to link number `cable` (from 0) of the parallel links
 * between switches route->at and `by`. Fails if they have fewer links. */
static nw_status find_cable(const struct nw_cluster *cluster,
                            struct forwarding_tables_route *route, int32_t by,
                            int32_t cable)
{
    const struct nw_network *network = cluster->topology->network;
    const int32_t *links;
    size_t all = nw_graph_links(network, route->at, &links);
    int32_t count = 0;

    for (size_t i = 0; i < all; i++) {
        int32_t a = network->link_a[links[i]], b = network->link_b[links[i]];

        if ((a == route->at ? b : a) != by)
            continue;
        route->link = links[i];
        if (count++ == cable)
            return NW_OK;
    }
    return nw_yaml_fail(route->item, "'%s' and '%s' are joined by %d link%s",
                        network->switch_name[route->at],
                        network->switch_name[by], count,
                        nw_plural((uint64_t)count));
}

static nw_status
forwarding_tables_take_node(struct tables *tables,
                            const struct forwarding_tables_route *route,
                            const struct nw_yaml *to, const char *name)
{
    const struct nw_graph_ports *ports = &tables->ports;
    int32_t node = 0, column, *entry;
    nw_status status = forwarding_tables_find_node(tables, to, name, &node);

    if (status)
        return status;
    column = ports->first[node] + route->card;
    if (column >= ports->first[node + 1])
        return nw_yaml_fail(to, "'%s' has no card %d", name, route->card);
    entry = &tables->via[(size_t)route->at * ports->count + (size_t)column];
    if (*entry >= 0)
        return nw_yaml_fail(to, "a second route to card %d of '%s'",
                            route->card, name);
    *entry = route->link;
    return NW_OK;
}

static nw_status take_item(struct tables *tables, const struct nw_yaml *item)
{
    struct forwarding_tables_route route = {.item = item};
    const struct nw_yaml *card = nw_yaml_get(item, "card"), *to;
    const struct nw_yaml *cable = nw_yaml_get(item, "cable");
    struct nw_hostlist names = {0};
    int32_t by = 0, number = 0;
    nw_status status =
        nw_yaml_check_map(item, "an item of 'tables'", "at by cable card to");

    if (!status)
        status = forwarding_tables_read_switch(tables->cluster, item, "at",
                                               &route.at);
    if (!status)
        status =
            forwarding_tables_read_switch(tables->cluster, item, "by", &by);
    if (!status && cable)
        status = nw_yaml_count(cable, 0, NW_CLUSTER_MAX_LINKS, &number);
    if (!status && card)
        status = nw_yaml_count(card, 0, NW_CLUSTER_MAX_CARDS, &route.card);
    if (!status)
        status = find_cable(tables->cluster, &route, by, number);
    if (!status)
        status = nw_yaml_need(item, "to", &to);
    if (!status)
        status = nw_cluster_names(to, &names);
    for (size_t i = 0; !status && i < names.count; i++)
        status = forwarding_tables_take_node(tables, &route, to, names.name[i]);
    nw_hostlist_fini(&names);
    return status;
}

nw_status nw_cluster_tables(struct nw_cluster *cluster,
                            const struct nw_yaml *list)
{
    struct tables tables = {.cluster = cluster};
    nw_status status = nw_yaml_check_list(list, "'tables'");

    if (!status)
        status = forwarding_tables_prepare(&tables, list);
    for (const struct nw_yaml *item = list->first; !status && item;
         item = item->next)
        status = take_item(&tables, item);
    free(tables.nodes.slot);
    if (!status)
        return nw_yaml_place(list,
                             nw_graph_set_tables(cluster->topology->network,
                                                 &tables.ports, tables.via));
    free(tables.ports.first);
    free(tables.ports.at);
    free(tables.via);
    return status;
}

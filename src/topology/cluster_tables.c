/* SPDX-License-Identifier: BSD-3-Clause */
/* The forwarding tables of a graph in a cluster file: at which switch messages
 * to which nodes take which link. Read last, when all nodes have their
 * switches. */
#include "base/array.h"
#include "base/status.h"
#include "topology/cluster.h"
#include "topology/networks.h"

#include <stdlib.h>
#include <string.h>

#define MAX_TABLE ((size_t)1 << 28) /* entries */

struct tables {
    struct nw_cluster *cluster;
    int32_t *by_name; /* nodes */
    struct nw_graph_ports ports;
    int32_t *via;
};

/* An item: at a switch, the link to a neighbour, for one card of nodes. */
struct way {
    const struct nw_yaml *item;
    int32_t at, link, card;
};

static int compare_nodes(const void *a, const void *b, void *names)
{
    const char *const *name = names;

    return strcmp(name[*(const int32_t *)a], name[*(const int32_t *)b]);
}

static nw_status prepare(struct tables *tables, const struct nw_yaml *list)
{
    const nw_topology *topology = tables->cluster->topology;
    size_t nodes = (size_t)topology->node_count;
    size_t switches = (size_t)topology->network->switch_count;
    nw_status status =
        nw_alloc(nodes, sizeof *tables->by_name, &tables->by_name);

    if (!status)
        status = nw_graph_copy_ports(topology, &tables->ports);
    if (!status && switches * tables->ports.count > MAX_TABLE)
        status = nw_yaml_fail(list, "tables of more than 2^28 entries");
    if (!status)
        status = nw_alloc(switches * tables->ports.count, sizeof *tables->via,
                          &tables->via);
    if (status)
        return status;
    memset(tables->via, 0xff,
           switches * tables->ports.count * sizeof *tables->via); /* all -1 */
    for (size_t n = 0; n < nodes; n++)
        tables->by_name[n] = (int32_t)n;
    qsort_r(tables->by_name, nodes, sizeof *tables->by_name, compare_nodes,
            topology->node_name);
    return NW_OK;
}

static nw_status find_node(const struct tables *tables,
                           const struct nw_yaml *node, const char *name,
                           int32_t *out)
{
    const nw_topology *topology = tables->cluster->topology;
    int32_t low = 0, high = topology->node_count;

    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        int32_t n = tables->by_name[middle];
        int order = strcmp(topology->node_name[n], name);

        if (order == 0) {
            *out = n;
            return NW_OK;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return nw_yaml_fail(node, "there is no node '%s'", name);
}

static nw_status read_switch(struct nw_cluster *cluster,
                             const struct nw_yaml *item, const char *key,
                             int32_t *out)
{
    const struct nw_yaml *node;
    const char *name;
    nw_status status = nw_yaml_need(item, key, &node);

    if (!status)
        status = nw_yaml_text(node, &name);
    return status ? status : nw_cluster_find_switch(cluster, node, name, out);
}

/* The cable numbered so among those between two switches. */
static nw_status find_cable(const struct nw_cluster *cluster, struct way *way,
                            int32_t by, int32_t cable)
{
    const struct nw_network *network = cluster->topology->network;
    int32_t count = 0;

    for (int32_t l = 0; l < network->link_count; l++) {
        int32_t a = network->link_a[l], b = network->link_b[l];

        if (!((a == way->at && b == by) || (a == by && b == way->at)))
            continue;
        way->link = l;
        if (count++ == cable)
            return NW_OK;
    }
    return nw_yaml_fail(way->item, "'%s' and '%s' are joined by %d link%s",
                        network->switch_name[way->at], network->switch_name[by],
                        count, count == 1 ? "" : "s");
}

static nw_status take_node(struct tables *tables, const struct way *way,
                           const struct nw_yaml *to, const char *name)
{
    const struct nw_graph_ports *ports = &tables->ports;
    int32_t node = 0, column, *entry;
    nw_status status = find_node(tables, to, name, &node);

    if (status)
        return status;
    column = ports->first[node] + way->card;
    if (column >= ports->first[node + 1])
        return nw_yaml_fail(to, "'%s' has no card %d", name, way->card);
    entry = &tables->via[(size_t)way->at * ports->count + (size_t)column];
    if (*entry >= 0)
        return nw_yaml_fail(to, "a second way to card %d of '%s'", way->card,
                            name);
    *entry = way->link;
    return NW_OK;
}

static nw_status take_item(struct tables *tables, const struct nw_yaml *item)
{
    struct way way = {.item = item};
    const struct nw_yaml *card = nw_yaml_get(item, "card"), *to;
    const struct nw_yaml *cable = nw_yaml_get(item, "cable");
    struct nw_hostlist names = {0};
    int32_t by = 0, number = 0;
    nw_status status =
        nw_yaml_check_map(item, "an item of 'tables'", "at by cable card to");

    if (!status)
        status = read_switch(tables->cluster, item, "at", &way.at);
    if (!status)
        status = read_switch(tables->cluster, item, "by", &by);
    if (!status && cable)
        status = nw_yaml_count(cable, 0, NW_CLUSTER_MAX_LINKS, &number);
    if (!status && card)
        status = nw_yaml_count(card, 0, NW_CLUSTER_MAX_CARDS, &way.card);
    if (!status)
        status = find_cable(tables->cluster, &way, by, number);
    if (!status)
        status = nw_yaml_need(item, "to", &to);
    if (!status)
        status = nw_cluster_names(to, &names);
    for (size_t i = 0; !status && i < names.count; i++)
        status = take_node(tables, &way, to, names.name[i]);
    nw_hostlist_fini(&names);
    return status;
}

nw_status nw_cluster_tables(struct nw_cluster *cluster,
                            const struct nw_yaml *list)
{
    struct tables tables = {.cluster = cluster};
    nw_status status = nw_yaml_check_list(list, "'tables'");

    if (!status)
        status = prepare(&tables, list);
    for (const struct nw_yaml *item = list->first; !status && item;
         item = item->next)
        status = take_item(&tables, item);
    free(tables.by_name);
    if (!status)
        return nw_yaml_place(list,
                             nw_graph_set_tables(cluster->topology->network,
                                                 &tables.ports, tables.via));
    free(tables.ports.first);
    free(tables.ports.at);
    free(tables.via);
    return status;
}

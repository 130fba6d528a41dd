/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows the network as lines of the topology's tree. If the network is a tree,
 * its switches are shown with the nodes below them. In other networks,
 * consecutive equal switches, consecutive equal nodes, and links of each class
 * are counted. */
#include "base/array.h"
#include "base/hash.h"
#include "report/outline.h"
#include "report/topology_parts.h"

#include <stdio.h>
#include <stdlib.h>

/* The state of showing the network. Item 0 of the outline is the network; the
 * switches follow, then the nodes. */
struct parts_network_view {
    nw_table *table;
    const nw_topology *topology;
    int32_t *parent;
    uint64_t *hash;
    nw_status status; /* failure to make the names of a line */
};

/* Returns the class of the link of the node's first NIC. */
static int32_t port_class(const nw_topology *topology, int32_t node)
{
    return topology->port_class[topology->port_first[node]];
}

static const char *switch_name(const struct nw_network *network, int32_t s,
                               char number[24])
{
    if (network->switch_name[s])
        return network->switch_name[s];
    snprintf(number, 24, "switch%d", s);
    return number;
}

static const char *item_name(const struct parts_network_view *view,
                             int32_t item, char number[24])
{
    const struct nw_network *network = view->topology->network;

    if (item <= network->switch_count)
        return switch_name(network, item - 1, number);
    return view->topology->node_name[item - 1 - network->switch_count];
}

/* Adds the cell with the names of a line's items. A switch without a name is
 * called "switch" and its number. */
static nw_status add_names(struct parts_network_view *view,
                           const struct nw_outline_line *line)
{
    struct nw_text text = {0};
    char(*number)[24] = NULL;
    const char **names = NULL;
    nw_status status = nw_alloc(line->count, sizeof *number, &number);

    if (!status)
        status = nw_alloc(line->count, sizeof *names, &names);
    for (size_t i = 0; !status && i < line->count; i++)
        names[i] = item_name(view, line->item[i], number[i]);
    if (!status)
        status = nw_words_names(&text, names, line->count);
    nw_table_cell(view->table, "%s", text.data ? text.data : "");
    nw_text_fini(&text);
    free(names);
    free(number);
    return status;
}

static void add_node_note(struct parts_network_view *view, int32_t node)
{
    const nw_topology *topology = view->topology;
    const struct nw_node_type *type = nw_topology_type_of(topology, node);
    int32_t ports = topology->port_first[node + 1] - topology->port_first[node];
    bool assumed = topology->class[port_class(topology, node)].assumed;
    const char *const word[] = {assumed ? "assumed" : NULL, type->name,
                                ports > 1 ? "several cards" : NULL};
    struct nw_text note = {0};

    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (word[i] && word[i][0])
            nw_text_format(&note, "%s%s", note.length ? ", " : "", word[i]);
    nw_table_cell(view->table, "%s", note.data ? note.data : "");
    nw_text_fini(&note);
}

static void parts_network_add_class(struct parts_network_view *view,
                                    int32_t class)
{
    const struct nw_link_class *figures = &view->topology->class[class];
    char words[64], latency[32];

    nw_table_cell(view->table, "%s",
                  nw_link_kind_name((enum nw_link_kind)figures->kind));
    nw_table_cell(view->table, "%s", nw_words_bandwidth(figures, words));
    nw_table_cell(view->table, "%s",
                  nw_format_quantity(figures->latency, NW_UNIT_TIME, latency,
                                     sizeof latency));
}

/* Adds the level of a switch: its distance in links from the nearest switch
 * that has nodes; -1: no path leads to one. */
static void parts_network_add_level(struct parts_network_view *view,
                                    int32_t level)
{
    for (int i = 0; i < 3; i++)
        nw_table_cell(view->table, "%s", "");
    if (level > 0)
        nw_table_cell(view->table, "level %d", level);
    else
        nw_table_cell(view->table, "%s", level ? "no nodes" : "leaves");
}

static void add_item_figures(struct parts_network_view *view, int32_t item)
{
    const nw_topology *topology = view->topology;
    const struct nw_network *network = topology->network;
    int32_t node = item - 1 - network->switch_count, uplink;

    if (node >= 0) {
        parts_network_add_class(view, port_class(topology, node));
        add_node_note(view, node);
        return;
    }
    uplink = network->uplink && network->parent[item - 1] >= 0
                 ? network->uplink[item - 1]
                 : -1;
    if (uplink >= 0)
        nw_parts_figures(view->table, topology, network->link_class[uplink]);
    else if (!network->parent)
        parts_network_add_level(view, network->level[item - 1]);
}

static int32_t parts_network_show(void *user, int32_t above,
                                  const struct nw_outline_line *line)
{
    struct parts_network_view *view = user;
    const struct nw_network *network = view->topology->network;
    int32_t row = nw_table_row(view->table, above), item = line->item[0];

    if (item == 0) {
        nw_table_cell(view->table, "network (%s)", network->ops->name);
        return row;
    }
    if (!view->status)
        view->status = add_names(view, line);
    nw_parts_count(view->table, line->count, line->each);
    add_item_figures(view, item);
    return row;
}

/* Sets parent and hash of each switch; the parent is the network if the switch
 * has none or the network is not a tree. */
static void fill_switches(struct parts_network_view *view)
{
    const struct nw_network *network = view->topology->network;

    for (int32_t s = 0; s < network->switch_count; s++) {
        int32_t up = network->parent ? network->parent[s] : -1;

        view->parent[1 + s] = up + 1;
        view->hash[1 + s] = nw_hash_word(
            1,
            up < 0 ? 0 : (uint64_t)network->link_class[network->uplink[s]] + 1);
        if (!network->parent)
            view->hash[1 + s] = nw_hash_word(view->hash[1 + s],
                                             (uint64_t)network->level[s] + 1);
    }
}

/* Sets parent and hash of each node. The parent is the switch of the node's
 * first NIC in a tree network, otherwise the network. */
static void fill_nodes(struct parts_network_view *view)
{
    const nw_topology *topology = view->topology;
    const struct nw_network *network = topology->network;

    for (int32_t node = 0; node < topology->node_count; node++) {
        int32_t item = 1 + network->switch_count + node;
        uint64_t hash = nw_hash_word(2, (uint64_t)topology->node_type[node]);

        for (int32_t p = topology->port_first[node];
             p < topology->port_first[node + 1]; p++)
            hash = nw_hash_word(hash, (uint64_t)topology->port_class[p]);
        view->hash[item] = hash;
        view->parent[item] =
            network->parent ? 1 + topology->port[topology->port_first[node]]
                            : 0;
    }
}

/* Links to count by their link classes. */
struct parts_network_links {
    const char *name;
    /* [count] link class of each link; -1: this link does not exist */
    const int32_t *class;
    int32_t count;
};

/* Adds a line with the number of links for each link class. */
static nw_status count_links(nw_table *table, const nw_topology *topology,
                             const struct parts_network_links *links)
{
    int32_t *count;
    nw_status status =
        nw_alloc((size_t)topology->class_count, sizeof *count, &count);

    if (status)
        return status;
    for (int32_t l = 0; l < links->count; l++)
        if (links->class[l] >= 0)
            count[links->class[l]]++;
    for (int32_t class = 0; class < topology->class_count; class ++) {
        if (!count[class])
            continue;
        nw_table_row(table, -1);
        nw_table_cell(table, "%s", links->name);
        nw_table_cell(table, "%d", count[class]);
        nw_parts_figures(table, topology, class);
    }
    free(count);
    return NW_OK;
}

nw_status nw_parts_of_domains(nw_table *table, const nw_topology *topology)
{
    return count_links(table, topology,
                       &(struct parts_network_links){
                           "uplinks of NVLink domains", topology->uplink_class,
                           topology->domain_count});
}

nw_status nw_parts_of_network(nw_table *table, const nw_topology *topology)
{
    struct parts_network_view view = {.table = table, .topology = topology};
    int32_t count = 1 + topology->network->switch_count + topology->node_count;
    nw_status status =
        nw_alloc((size_t)count, sizeof *view.parent, &view.parent);

    if (!status)
        status = nw_alloc((size_t)count, sizeof *view.hash, &view.hash);
    if (!status) {
        view.parent[0] = -1;
        fill_switches(&view);
        fill_nodes(&view);
        status = nw_outline_show(&(struct nw_outline){
            .count = count,
            .parent = view.parent,
            .hash = view.hash,
            .show = parts_network_show,
            .user = &view,
        });
    }
    if (!status)
        status = view.status;
    if (!status && !topology->network->parent)
        status = count_links(
            table, topology,
            &(struct parts_network_links){"links between switches",
                                          topology->network->link_class,
                                          topology->network->link_count});
    free(view.parent);
    free(view.hash);
    return status;
}

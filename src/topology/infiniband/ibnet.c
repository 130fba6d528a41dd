/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads ibnet:FILE. The switches of a subnet become a network, its hosts become
 * nodes. Options follow the file's name: ",map=FILE" is a file with names of
 * switches and adapters, ",lft=FILE" has the forwarding tables. */
#include "topology/infiniband/ibnet.h"
#include "base/array.h"
#include "base/file.h"
#include "base/status.h"
#include "topology/network/networks.h"
#include "topology/source.h"

#include <stdlib.h>
#include <string.h>

/* The parts of a source FILE[,map=FILE][,lft=FILE]. */
struct ibnet_request {
    char *text; /* the text that the other members point into; owned */
    const char *file, *map, *tables;
};

static nw_status parse_request(const char *what, struct ibnet_request *request)
{
    nw_status status = nw_strdup(what, &request->text);
    char *map, *tables;

    if (status)
        return status;
    request->file = request->text;
    map = strstr(request->text, ",map=");
    tables = strstr(request->text, ",lft=");
    if (map) {
        *map = '\0';
        request->map = map + strlen(",map=");
    }
    if (tables) {
        *tables = '\0';
        request->tables = tables + strlen(",lft=");
    }
    if (!*request->file || (request->map && !*request->map) ||
        (request->tables && !*request->tables))
        return nw_fail(
            NW_EINVAL,
            "ibnet: '%s' is not of the form FILE[,map=FILE][,lft=FILE]", what);
    return NW_OK;
}

static bool ibnet_is_switch(const struct nw_ib_node *node)
{
    return node->kind != 'H';
}

static int ibnet_compare_switches(const void *a, const void *b)
{
    return strverscmp((*(struct nw_ib_node *const *)a)->name,
                      (*(struct nw_ib_node *const *)b)->name);
}

/* Sorts the switches by name in natural order, and makes a network of them. All
 * names differ. */
static nw_status name_switches(struct nw_ib_node **order, size_t count,
                               nw_topology *topology)
{
    struct nw_network *network;
    nw_status status = nw_network_new((int32_t)count, &network);

    if (status)
        return status;
    nw_topology_take_network(topology, network);
    qsort(order, count, sizeof *order, ibnet_compare_switches);
    for (size_t i = 0; !status && i < count; i++) {
        order[i]->number = (int32_t)i;
        status = nw_strdup(order[i]->name, &network->switch_name[i]);
    }
    return status;
}

static nw_status make_switches(struct nw_ib_subnet *subnet,
                               nw_topology *topology)
{
    struct nw_ib_node **order;
    size_t count = 0;
    nw_status status = nw_alloc(subnet->node_count, sizeof *order, &order);

    if (status)
        return status;
    for (size_t n = 0; n < subnet->node_count; n++)
        if (ibnet_is_switch(&subnet->node[n]))
            order[count++] = &subnet->node[n];
    if (count)
        status = name_switches(order, count, topology);
    else
        status = nw_fail(NW_EFORMAT, "%s:1: no switch found in this fabric",
                         subnet->file);
    free(order);
    return status;
}

/* Adds one link for each cable between two different switches. */
static nw_status make_links(struct nw_ib_subnet *subnet, nw_topology *topology)
{
    nw_status status = NW_OK;

    for (size_t p = 0; !status && p < subnet->port_count; p++) {
        struct nw_ib_port *port = &subnet->port[p];
        const struct nw_ib_node *a = &subnet->node[port->node];
        const struct nw_ib_node *b = &subnet->node[port->peer_node];
        int32_t class;

        if (!ibnet_is_switch(a) || !ibnet_is_switch(b) || a == b ||
            a->number > b->number)
            continue;
        status = nw_topology_class_of_rate(topology, NW_LINK_NETWORK,
                                           port->rate, &class);
        if (!status)
            status = nw_network_add_link(topology->network, a->number,
                                         b->number, class, &port->link);
        if (!status)
            nw_ib_port(subnet, port->peer_node, port->peer_number)->link =
                port->link;
    }
    return status;
}

static nw_status add_card(const struct nw_ib_subnet *subnet,
                          struct nw_fabric *fabric,
                          const struct nw_ib_node *adapter,
                          const struct nw_ib_port *port)
{
    const struct nw_ib_node *peer = &subnet->node[port->peer_node];
    struct nw_fabric_card card = {.name = adapter->device,
                                  .at = peer->number,
                                  .origin = (size_t)(port - subnet->port)};
    nw_status status;

    if (!ibnet_is_switch(peer))
        return nw_fail(NW_EFORMAT,
                       "%s:%d: '%s' and '%s' are joined without a switch",
                       subnet->file, port->line, adapter->id, peer->id);
    status = nw_topology_class_of_rate(fabric->topology, NW_LINK_NIC,
                                       port->rate, &card.class);
    return status ? status : nw_fabric_add_card(fabric, &card);
}

static int compare_adapters(const void *a, const void *b)
{
    const struct nw_ib_node *x = *(struct nw_ib_node *const *)a;
    const struct nw_ib_node *y = *(struct nw_ib_node *const *)b;
    int order = strcmp(x->name, y->name);

    if (!order)
        order =
            strverscmp(x->device ? x->device : "", y->device ? y->device : "");
    return order ? order : x->line - y->line;
}

/* Returns true if two adapters with the same host name belong to the same host:
 * they have the same system guid, or the names of their devices differ. */
static bool same_host(const struct nw_ib_node *a, const struct nw_ib_node *b)
{
    if (a->system && a->system == b->system)
        return true;
    return a->device && b->device && strcmp(a->device, b->device);
}

static nw_status add_adapter(const struct nw_ib_subnet *subnet,
                             struct nw_fabric *fabric,
                             const struct nw_ib_node *const *adapter)
{
    const struct nw_ib_node *node = adapter[0], *last = adapter[-1];
    bool again = last && !strcmp(last->name, node->name);
    nw_status status = NW_OK;

    if (again && !same_host(last, node))
        return nw_fail(NW_EFORMAT,
                       "%s:%d: two nodes are named '%s'; the other is in line "
                       "%d",
                       subnet->file, node->line, node->name, last->line);
    if (!again)
        status = nw_fabric_add_host(fabric, node->name, node->line);
    for (size_t p = 0; !status && p < node->count; p++)
        status = add_card(subnet, fabric, node, &subnet->port[node->first + p]);
    return status;
}

/* Adds the hosts of the adapters that have a name and a cable. The adapters are
 * sorted by host. order[0] stays NULL, so that each adapter has a
 * predecessor. */
static nw_status make_hosts(const struct nw_ib_subnet *subnet,
                            struct nw_fabric *fabric)
{
    const struct nw_ib_node **order;
    size_t count = 0;
    nw_status status = nw_alloc(subnet->node_count + 1, sizeof *order, &order);

    if (status)
        return status;
    for (size_t n = 0; n < subnet->node_count; n++) {
        const struct nw_ib_node *node = &subnet->node[n];

        if (!ibnet_is_switch(node) && node->name && node->count)
            order[++count] = node;
    }
    if (count)
        qsort(order + 1, count, sizeof *order, compare_adapters);
    for (size_t i = 1; !status && i <= count; i++)
        status = add_adapter(subnet, fabric, order + i);
    free(order);
    return status;
}

/* Sets the routes: from recorded paths of ibtracert if `tables` has their
 * entries, else from the file of forwarding tables. */
static nw_status follow_tables(const struct nw_ib_subnet *subnet,
                               struct nw_ib_tables *tables,
                               const struct nw_fabric *fabric)
{
    nw_status status = tables->count
                           ? nw_ib_find_trace_ports(subnet, tables)
                           : nw_ib_read_tables(subnet, tables->file, tables);

    return status ? status : nw_ib_set_tables(subnet, tables, fabric);
}

static nw_status ibnet_build(struct nw_ib_subnet *subnet,
                             struct nw_ib_tables *tables,
                             struct nw_fabric *fabric)
{
    nw_status status = nw_ib_connect(subnet);

    if (!status)
        status = make_switches(subnet, fabric->topology);
    if (!status)
        status = make_links(subnet, fabric->topology);
    if (!status)
        status = nw_fabric_blame(
            subnet->file,
            nw_network_finish_graph(fabric->topology->network, true));
    if (!status)
        status = make_hosts(subnet, fabric);
    if (!status)
        status = nw_fabric_place(fabric);
    if (!status && tables->file)
        status = follow_tables(subnet, tables, fabric);
    return status;
}

static nw_status ibnet_parse(struct nw_ib_subnet *subnet, char *text,
                             struct nw_ib_tables *tables)
{
    if (nw_ib_is_ports(text))
        return nw_ib_parse_ports(subnet, text);
    if (!nw_ib_is_trace(text))
        return nw_ib_parse(subnet, text);
    tables->file = subnet->file;
    return nw_ib_parse_traces(subnet, text, tables);
}

static nw_status read_subnet(const struct ibnet_request *request, char *text,
                             enum nw_elements elements, nw_topology *topology)
{
    struct nw_ib_subnet subnet = {.file = request->file};
    struct nw_ib_tables tables = {.file = request->tables};
    struct nw_fabric fabric = {.file = request->file, .topology = topology};
    char *map_text = NULL;
    nw_status status = ibnet_parse(&subnet, text, &tables);

    if (!status)
        status = nw_ib_name(&subnet, request->map, &map_text);
    if (!status)
        status = ibnet_build(&subnet, &tables, &fabric);
    if (!status)
        status = nw_fabric_close(&fabric, elements);
    nw_fabric_fini(&fabric);
    nw_ib_fini(&subnet);
    free(tables.entry);
    free(map_text);
    return status;
}

nw_status nw_ibnet_load(const char *what, enum nw_elements elements,
                        nw_topology **out)
{
    struct ibnet_request request = {0};
    nw_topology *topology = NULL;
    char *text = NULL;
    size_t length;
    nw_status status;

    status = parse_request(what, &request);
    if (!status)
        status = nw_file_read_text(request.file, &text, &length);
    if (!status)
        status = nw_topology_new(request.file, &topology);
    if (!status)
        status = read_subnet(&request, text, elements, topology);
    if (status)
        nw_topology_free(topology);
    else
        *out = topology;
    free(text);
    free(request.text);
    return status;
}

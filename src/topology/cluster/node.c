/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the items of `nodes`, whose names node_names.c has read before: their
 * node types, NVLink domains, switches of their NICs, and figures of their
 * ports. */
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/cluster/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static nw_status node_find_type(const struct nw_cluster *cluster,
                                const struct nw_yaml *item, int32_t *out)
{
    const struct nw_yaml *name = nw_yaml_get(item, "type");
    const char *text;
    nw_status status;

    *out = 0;
    if (!name && cluster->type_count == 1)
        return NW_OK;
    if (!name)
        return nw_yaml_fail(item,
                            "'type' is missing; the file has %zu node types",
                            cluster->type_count);
    status = nw_yaml_text(name, &text);
    for (size_t t = 0; !status && t < cluster->type_count; t++)
        if (!strcmp(cluster->type[t].type->name, text)) {
            *out = (int32_t)t;
            return NW_OK;
        }
    return status
               ? status
               : nw_yaml_fail(name, "unknown node type '%s': not in node_types",
                              text);
}

/* The nodes of one item of `nodes`: `first` to `end` - 1, with `cards` NICs
 * each. */
struct span {
    const struct nw_yaml *item;
    int32_t first, end, cards;
};

static int32_t ports_of(const struct nw_cluster *cluster, int32_t type)
{
    return cluster->type[type].port_count
               ? (int32_t)cluster->type[type].port_count
               : 1;
}

/* Connects NIC number `card` of the span's nodes to the switches that are named
 * at `node`. Each switch gets the same number of consecutive nodes. */
static nw_status join_card(const struct nw_cluster *cluster,
                           const struct span *span, const struct nw_yaml *node,
                           int32_t card)
{
    nw_topology *topology = cluster->topology;
    struct nw_hostlist names = {0};
    size_t n = (size_t)(span->end - span->first);
    nw_status status = nw_cluster_names(node, &names);

    if (!status && n % names.count)
        status = nw_yaml_fail(
            node, "%zu node%s cannot be shared out evenly over %zu switch%s", n,
            nw_plural((uint64_t)n), names.count,
            nw_by_count((uint64_t)names.count, "", "es"));
    for (size_t s = 0; !status && s < names.count; s++) {
        size_t each = n / names.count;
        int32_t found = 0;

        status = nw_cluster_find_switch(cluster, node, names.name[s], &found);
        if (!status && cluster->fill.each && found >= cluster->fill.switches)
            status =
                nw_yaml_fail(node, "'%s' is not a leaf switch", names.name[s]);
        for (size_t i = s * each; !status && i < (s + 1) * each; i++)
            topology
                ->port[topology->port_first[span->first + (int32_t)i] + card] =
                found;
    }
    nw_hostlist_fini(&names);
    return status;
}

/* Connects the nodes of an item that names no switch, by the rule of struct
 * nw_cluster_fill. */
static nw_status node_fill_switches(const struct nw_cluster *cluster,
                                    const struct span *span)
{
    nw_topology *topology = cluster->topology;
    const struct nw_cluster_fill *fill = &cluster->fill;
    int32_t rails = fill->rails ? fill->rails : 1;

    if (!fill->each)
        return nw_yaml_fail(span->item, "'switch' is missing");
    for (int32_t i = span->first; i < span->end; i++) {
        if (i / fill->each >= fill->switches / rails)
            return nw_yaml_fail(
                span->item,
                "%d switch%s of %d node%s each have no port for node %d",
                fill->switches, nw_by_count((uint64_t)fill->switches, "", "es"),
                fill->each, nw_plural((uint64_t)fill->each), i + 1);
        for (int32_t c = 0; c < span->cards; c++)
            topology->port[topology->port_first[i] + c] =
                i / fill->each * rails + c % rails;
    }
    return NW_OK;
}

static nw_status node_join_switches(const struct nw_cluster *cluster,
                                    const struct span *span)
{
    const struct nw_yaml *where = nw_yaml_get(span->item, "switch");
    const struct nw_yaml *item;
    nw_status status = NW_OK;

    if (!where)
        return node_fill_switches(cluster, span);
    if (where->kind != NW_YAML_LIST) {
        for (int32_t c = 0; !status && c < span->cards; c++)
            status = join_card(cluster, span, where, c);
        return status;
    }
    if (where->count != (size_t)span->cards)
        return nw_yaml_fail(
            where,
            "'switch' has %zu item%s, but the node has %d network card%s",
            where->count, nw_plural(where->count), span->cards,
            nw_plural((uint64_t)span->cards));
    item = where->first;
    for (int32_t c = 0; !status && c < span->cards; c++, item = item->next)
        status = join_card(cluster, span, item, c);
    return status;
}

/* Reads 'ports', a list with the bandwidth and latency of each NIC's port, and
 * sets them for the span's nodes. */
static nw_status set_each_port(struct nw_cluster *cluster,
                               const struct span *span,
                               const struct nw_yaml *each)
{
    nw_topology *topology = cluster->topology;
    const struct nw_yaml *item = each->first;
    nw_status status = nw_yaml_check_list(each, "'ports'");
    int32_t class;

    if (!status && each->count != (size_t)span->cards)
        status = nw_yaml_fail(
            each, "'ports' has %zu item%s, but the node has %d network card%s",
            each->count, nw_plural(each->count), span->cards,
            nw_plural((uint64_t)span->cards));
    for (int32_t c = 0; !status && c < span->cards; c++, item = item->next) {
        status = nw_cluster_figures(cluster, item, NW_LINK_NIC, &class);
        for (int32_t i = span->first; !status && i < span->end; i++)
            topology->port_class[topology->port_first[i] + c] = class;
    }
    return status;
}

static nw_status set_port_figures(struct nw_cluster *cluster,
                                  const struct span *span)
{
    nw_topology *topology = cluster->topology;
    const struct nw_cluster_type *type =
        &cluster->type[topology->node_type[span->first]];
    const struct nw_yaml *each = nw_yaml_get(span->item, "ports");
    int32_t otherwise;
    nw_status status;

    if (each)
        return set_each_port(cluster, span, each);
    status = nw_cluster_figures(cluster, nw_yaml_get(span->item, "port"),
                                NW_LINK_NIC, &otherwise);
    for (int32_t i = span->first; !status && i < span->end; i++)
        for (int32_t c = 0; c < span->cards; c++) {
            int32_t own = type->port_count ? type->port[c] : -1;

            topology->port_class[topology->port_first[i] + c] =
                own < 0 ? otherwise : own;
        }
    return status;
}

/* For a file without a network: fails if an item has a key that needs one. */
static nw_status node_check_alone(const struct span *span)
{
    static const char *const keys[] = {"switch", "port", "ports"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct nw_yaml *value = nw_yaml_get(span->item, keys[i]);

        if (value)
            return nw_yaml_fail(value, "'%s' without a 'network'", keys[i]);
    }
    return NW_OK;
}

static nw_status place_item(struct nw_cluster *cluster, const struct span *span)
{
    nw_status status =
        nw_cluster_join_domains(cluster, span->item, span->first, span->end);

    if (status)
        return status;
    if (!cluster->topology->network)
        return node_check_alone(span);
    if (!status)
        status = node_join_switches(cluster, span);
    if (!status)
        status = set_port_figures(cluster, span);
    return status;
}

/* Sets type_of[i] to the node type of item i, and allocates the arrays of nodes
 * and ports for all items. */
static nw_status size_nodes(struct nw_cluster *cluster,
                            const struct nw_yaml *nodes, int32_t *type_of)
{
    int64_t ports = 0;
    int32_t first = 0;
    size_t i = 0;
    nw_status status = NW_OK;

    for (const struct nw_yaml *item = nodes->first; !status && item;
         item = item->next, i++) {
        status = node_find_type(cluster, item, &type_of[i]);
        if (!status)
            ports += (int64_t)ports_of(cluster, type_of[i]) *
                     (cluster->entry_end[i] - first);
        first = cluster->entry_end[i];
    }
    if (!status && ports > NW_CLUSTER_MAX_LINKS)
        status = nw_yaml_fail(nodes, "more than %d network cards",
                              NW_CLUSTER_MAX_LINKS);
    if (status)
        return status;
    return nw_topology_set_nodes(cluster->topology, first,
                                 cluster->topology->network ? (int32_t)ports
                                                            : 0);
}

/* Sets the name and type of each node, and the first port of each. */
static void node_lay_out(struct nw_cluster *cluster, const int32_t *type_of)
{
    nw_topology *topology = cluster->topology;
    bool joined = topology->network;
    size_t entry = 0;
    int32_t port = 0;

    for (int32_t i = 0; i < topology->node_count; i++) {
        while (i >= cluster->entry_end[entry])
            entry++;
        topology->node_name[i] = cluster->names.name[i];
        cluster->names.name[i] = NULL; /* the topology owns the name from
                                          here on */
        topology->node_type[i] = type_of[entry];
        topology->port_first[i] = port;
        port += joined ? ports_of(cluster, type_of[entry]) : 0;
    }
    topology->port_first[topology->node_count] = port;
}

static nw_status place_items(struct nw_cluster *cluster,
                             const struct nw_yaml *nodes, int32_t *type_of)
{
    nw_status status = size_nodes(cluster, nodes, type_of);
    struct span span = {0};
    size_t i = 0;

    if (status)
        return status;
    if (!cluster->topology->network && cluster->topology->node_count > 1)
        return nw_yaml_fail(nodes, "%d node%s a 'network'",
                            cluster->topology->node_count,
                            nw_by_count((uint64_t)cluster->topology->node_count,
                                        " needs", "s need"));
    node_lay_out(cluster, type_of);
    for (span.item = nodes->first; !status && span.item;
         span.item = span.item->next, i++) {
        span.end = cluster->entry_end[i];
        span.cards = ports_of(cluster, type_of[i]);
        status = place_item(cluster, &span);
        span.first = span.end;
    }
    return status ? status : nw_cluster_number_domains(cluster);
}

nw_status nw_cluster_place_nodes(struct nw_cluster *cluster,
                                 const struct nw_yaml *nodes)
{
    int32_t *type_of;
    nw_status status = nw_alloc(nodes->count, sizeof *type_of, &type_of);

    if (status)
        return status;
    status = place_items(cluster, nodes, type_of);
    free(type_of);
    return status;
}

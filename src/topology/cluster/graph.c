/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a network whose switches and links are listed one by one. */
#include "base/array.h"
#include "base/status.h"
#include "topology/cluster/cluster.h"
#include "topology/network/networks.h"

#include <stdlib.h>
#include <string.h>

/* An item of 'links': the link class, and the number of parallel links. */
struct graph_cable {
    const struct nw_yaml *item;
    int32_t class, parallel;
};

/* Reads the names of the switches, and makes a network of these switches that
 * has no links yet. */
static nw_status read_switches(struct nw_cluster *cluster,
                               const struct nw_yaml *node)
{
    struct nw_hostlist names = {0};
    struct nw_network *network;
    nw_status status = nw_cluster_names(node, &names);

    if (!status && names.count > NW_GRAPH_MAX_SWITCHES)
        status = nw_yaml_fail(node, "a graph of more than %d switches",
                              NW_GRAPH_MAX_SWITCHES);
    if (!status)
        status = nw_network_new((int32_t)names.count, &network);
    if (!status) {
        for (size_t s = 0; s < names.count; s++) {
            network->switch_name[s] = names.name[s];
            names.name[s] = NULL;
        }
        nw_topology_take_network(cluster->topology, network);
        status = nw_cluster_index_switches(cluster, node);
    }
    nw_hostlist_fini(&names);
    return status;
}

static nw_status graph_join(struct nw_cluster *cluster,
                            const struct graph_cable *cable,
                            const char *const ends[2])
{
    struct nw_network *network = cluster->topology->network;
    int32_t a, b, link;
    nw_status status =
        nw_cluster_find_switch(cluster, cable->item, ends[0], &a);

    if (!status)
        status = nw_cluster_find_switch(cluster, cable->item, ends[1], &b);
    if (!status && a == b)
        status = nw_yaml_fail(cable->item, "'%s' is joined to itself", ends[0]);
    for (int32_t p = 0; !status && p < cable->parallel; p++) {
        if (network->link_count == NW_CLUSTER_MAX_LINKS)
            return nw_yaml_fail(cable->item, "more than %d links",
                                NW_CLUSTER_MAX_LINKS);
        status = nw_network_add_link(network, a, b, cable->class, &link);
    }
    return status;
}

static nw_status join_lists(struct nw_cluster *cluster,
                            const struct graph_cable *cable,
                            const struct nw_yaml *between)
{
    struct nw_hostlist ends[2] = {{0}};
    nw_status status = NW_OK;

    if (between->kind != NW_YAML_LIST || between->count != 2)
        return nw_yaml_fail(between, "'between' is a list of two ends");
    status = nw_cluster_names(between->first, &ends[0]);
    if (!status)
        status = nw_cluster_names(between->last, &ends[1]);
    for (size_t i = 0; !status && i < ends[0].count; i++)
        for (size_t j = 0; !status && j < ends[1].count; j++)
            status =
                graph_join(cluster, cable,
                           (const char *[]){ends[0].name[i], ends[1].name[j]});
    nw_hostlist_fini(&ends[0]);
    nw_hostlist_fini(&ends[1]);
    return status;
}

static nw_status graph_read_links(struct nw_cluster *cluster,
                                  const struct nw_yaml *list)
{
    nw_status status = nw_yaml_check_list(list, "'links'");

    for (const struct nw_yaml *item = list->first; !status && item;
         item = item->next) {
        struct graph_cable cable = {.item = item, .parallel = 1};
        const struct nw_yaml *between;

        status = nw_yaml_check_map(item, "an item of 'links'",
                                   "between parallel link");
        if (!status)
            status = nw_yaml_need(item, "between", &between);
        if (!status)
            status = nw_yaml_count_at(item, "parallel", 1024, &cable.parallel);
        if (!status)
            status = nw_cluster_figures(cluster, nw_yaml_get(item, "link"),
                                        NW_LINK_NETWORK, &cable.class);
        if (!status)
            status = join_lists(cluster, &cable, between);
    }
    return status;
}

/* Reads the value of `key`, which must be words[0] or, unless that is NULL,
 * words[1]. Sets *second to true if it is words[1]; a missing key means
 * words[0]. */
static nw_status read_choice(const struct nw_yaml *node, const char *key,
                             const char *const words[2], bool *second)
{
    const struct nw_yaml *choice = nw_yaml_get(node, key);
    const char *text;
    nw_status status;

    *second = false;
    if (!choice)
        return NW_OK;
    status = nw_yaml_text(choice, &text);
    if (status)
        return status;
    *second = words[1] && !strcmp(text, words[1]);
    if (!*second && strcmp(text, words[0]))
        return nw_yaml_fail(choice, "'%s' must be %s%s%s, not '%s'", key,
                            words[0], words[1] ? " or " : "",
                            words[1] ? words[1] : "", text);
    return NW_OK;
}

nw_status nw_cluster_graph(struct nw_cluster *cluster,
                           const struct nw_yaml *node)
{
    const struct nw_yaml *switches, *links = nw_yaml_get(node, "links");
    bool first, other;
    nw_status status = nw_yaml_check_map(node, "'graph'",
                                         "switches links routing ties "
                                         "tables");

    if (!status)
        status = nw_yaml_need(node, "switches", &switches);
    if (!status)
        status = read_choice(node, "routing",
                             (const char *[]){"shortest", NULL}, &other);
    if (!status)
        status = read_choice(node, "ties", (const char *[]){"spread", "first"},
                             &first);
    if (!status)
        status = read_switches(cluster, switches);
    if (!status && links)
        status = graph_read_links(cluster, links);
    if (!status)
        status = nw_yaml_place(
            node, nw_network_finish_graph(cluster->topology->network, !first));
    return status;
}

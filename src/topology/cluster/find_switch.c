/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds switches of the network by name. */
#include "base/name_index.h"
#include "topology/cluster/cluster.h"

static struct nw_names find_switch_names(const struct nw_network *network)
{
    return (struct nw_names){network->switch_name, sizeof(char *), 0,
                             (size_t)network->switch_count};
}

nw_status nw_cluster_index_switches(struct nw_cluster *cluster,
                                    const struct nw_yaml *node)
{
    const struct nw_network *network = cluster->topology->network;
    struct nw_names names = find_switch_names(network);
    nw_status status = nw_names_sort(names, &cluster->switch_order);
    size_t again = status ? 0 : nw_names_repeated(names, cluster->switch_order);

    return again ? nw_yaml_fail(
                       node, "two switches are named '%s'",
                       network->switch_name[cluster->switch_order[again]])
                 : status;
}

nw_status nw_cluster_find_switch(const struct nw_cluster *cluster,
                                 const struct nw_yaml *node, const char *name,
                                 int32_t *out)
{
    int32_t s = nw_names_find(find_switch_names(cluster->topology->network),
                              cluster->switch_order, name);

    if (s >= 0) {
        *out = s;
        return NW_OK;
    }
    return nw_yaml_fail(
        node, "unknown switch '%s': not in the network of this file", name);
}

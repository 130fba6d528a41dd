/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls the reader for the kind of network that the file has. */
#include "topology/cluster/cluster.h"

nw_status nw_cluster_network(struct nw_cluster *cluster,
                             const struct nw_yaml *node)
{
    static const struct {
        const char *key;
        nw_status (*read)(struct nw_cluster *, const struct nw_yaml *);
    } kinds[] = {
        {"tree", nw_cluster_tree},   {"fat_tree", nw_cluster_fat_tree},
        {"torus", nw_cluster_torus}, {"dragonfly", nw_cluster_dragonfly},
        {"graph", nw_cluster_graph},
    };
    nw_status status = nw_yaml_check_map(node, "'network'",
                                         "tree fat_tree torus dragonfly graph");

    if (!status && node->count != 1)
        status = nw_yaml_fail(node, "'network' needs exactly one of tree, "
                                    "fat_tree, torus, dragonfly and graph");
    for (size_t i = 0; !status && i < sizeof kinds / sizeof *kinds; i++)
        if (nw_yaml_get(node, kinds[i].key))
            status = kinds[i].read(cluster, node->first);
    if (!status && !cluster->switch_order)
        status = nw_cluster_index_switches(cluster, node);
    return status;
}

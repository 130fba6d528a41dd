/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds switches of the network by name. */
#include "base/array.h"
#include "topology/cluster/cluster.h"
#include <stdlib.h>
#include <string.h>

static int find_switch_compare(const void *a, const void *b, void *names)
{
    const char *const *name = names;

    return strcmp(name[*(const int32_t *)a], name[*(const int32_t *)b]);
}

nw_status nw_cluster_index_switches(struct nw_cluster *cluster,
                                    const struct nw_yaml *node)
{
    const struct nw_network *network = cluster->topology->network;
    size_t count = (size_t)network->switch_count;
    nw_status status =
        nw_alloc(count, sizeof *cluster->switch_order, &cluster->switch_order);
    const int32_t *order = cluster->switch_order;

    if (status)
        return status;
    for (size_t s = 0; s < count; s++)
        cluster->switch_order[s] = (int32_t)s;
    qsort_r(cluster->switch_order, count, sizeof *order, find_switch_compare,
            network->switch_name);
    for (size_t i = 1; i < count; i++)
        if (!strcmp(network->switch_name[order[i - 1]],
                    network->switch_name[order[i]]))
            return nw_yaml_fail(node, "two switches are named '%s'",
                                network->switch_name[order[i]]);
    return NW_OK;
}

nw_status nw_cluster_find_switch(const struct nw_cluster *cluster,
                                 const struct nw_yaml *node, const char *name,
                                 int32_t *out)
{
    const struct nw_network *network = cluster->topology->network;
    int32_t low = 0, high = network->switch_count;

    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        int32_t s = cluster->switch_order[middle];
        int order = strcmp(network->switch_name[s], name);

        if (order == 0) {
            *out = s;
            return NW_OK;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return nw_yaml_fail(
        node, "unknown switch '%s': not in the network of this file", name);
}

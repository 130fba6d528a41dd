/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the networks that are described by a few numbers: fat trees, tori and
 * dragonflies. */
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/cluster/cluster.h"
#include "topology/network/networks.h"

#include <stdlib.h>
#include <string.h>

/* Fails if the network has too many switches or links; a negative number means
 * that the count overflowed. */
static nw_status regular_network_check_size(const struct nw_yaml *node,
                                            int64_t switches, int64_t links)
{
    if (switches < 0 || switches > NW_CLUSTER_MAX_SWITCHES)
        return nw_yaml_fail(node, "more than %d switches",
                            NW_CLUSTER_MAX_SWITCHES);
    if (links < 0 || links > NW_CLUSTER_MAX_LINKS)
        return nw_yaml_fail(node, "more than %d links", NW_CLUSTER_MAX_LINKS);
    return NW_OK;
}

static nw_status read_level(struct nw_cluster *cluster,
                            const struct nw_yaml *item,
                            struct nw_fat_tree_level *level)
{
    nw_status status = nw_yaml_check_map(item, "a level of a fat tree",
                                         "down up parallel link");

    *level = (struct nw_fat_tree_level){.up = 1, .parallel = 1};
    if (!status && !nw_yaml_get(item, "down") && item->next)
        status = nw_yaml_fail(item, "'down' is missing");
    if (!status)
        status = nw_yaml_count_at(item, "down", NW_CLUSTER_MAX_SWITCHES,
                                  &level->down);
    if (!status)
        status =
            nw_yaml_count_at(item, "up", NW_CLUSTER_MAX_SWITCHES, &level->up);
    if (!status)
        status = nw_yaml_count_at(item, "parallel", 1024, &level->parallel);
    if (!status)
        status = nw_cluster_figures(cluster, nw_yaml_get(item, "link"),
                                    NW_LINK_NETWORK, &level->class);
    return status;
}

/* If the last level has no 'down', sets it to the smallest number that gives
 * enough leaf switches for all nodes. */
static void regular_network_widen(const struct nw_cluster *cluster,
                                  struct nw_fat_tree *shape)
{
    struct nw_fat_tree_level *last = &shape->level[shape->level_count - 1];
    int64_t rails = cluster->fill.rails ? cluster->fill.rails : 1, below = 1;
    int64_t each = cluster->fill.each;
    int64_t leaves = ((int64_t)cluster->names.count + each - 1) / each * rails;

    if (last->down)
        return;
    for (int l = 0; l < shape->level_count - 1; l++)
        if (below < leaves)
            below *= shape->level[l].down;
    last->down = (int32_t)((leaves + below - 1) / below);
}

nw_status nw_cluster_fat_tree(struct nw_cluster *cluster,
                              const struct nw_yaml *node)
{
    struct nw_fat_tree shape = {0};
    const struct nw_yaml *levels, *each;
    struct nw_network *network;
    nw_status status =
        nw_yaml_check_map(node, "'fat_tree'", "leaf_nodes levels rails");

    if (!status)
        status = nw_yaml_need(node, "leaf_nodes", &each);
    if (!status)
        status = nw_yaml_count(each, 1, NW_CLUSTER_MAX_SWITCHES,
                               &cluster->fill.each);
    if (!status)
        status = nw_yaml_count_at(node, "rails", NW_CLUSTER_MAX_CARDS,
                                  &cluster->fill.rails);
    if (!status)
        status = nw_yaml_need(node, "levels", &levels);
    if (!status)
        status = nw_yaml_check_list(levels, "'levels'");
    if (!status && levels->count > NW_FAT_TREE_MAX_LEVELS)
        status =
            nw_yaml_fail(levels, "more than %d levels", NW_FAT_TREE_MAX_LEVELS);
    if (status)
        return status;
    for (const struct nw_yaml *item = levels->first; !status && item;
         item = item->next)
        status = read_level(cluster, item, &shape.level[shape.level_count++]);
    if (status)
        return status;
    regular_network_widen(cluster, &shape);
    status = regular_network_check_size(node, nw_fat_tree_switches(&shape),
                                        nw_fat_tree_links(&shape));
    if (!status)
        status = nw_network_fat_tree(&shape, &network);
    if (status)
        return status;
    cluster->fill.switches = nw_fat_tree_leaves(&shape);
    nw_topology_take_network(cluster->topology, network);
    return NW_OK;
}

static nw_status regular_network_read_sizes(const struct nw_yaml *node,
                                            struct nw_torus *shape)
{
    const struct nw_yaml *sizes;
    int64_t product = 1;
    nw_status status = nw_yaml_need(node, "dimensions", &sizes);

    if (!status)
        status = nw_yaml_check_list(sizes, "'dimensions'");
    if (!status && sizes->count > NW_TORUS_MAX_DIMENSIONS)
        status = nw_yaml_fail(sizes, "more than %d dimensions",
                              NW_TORUS_MAX_DIMENSIONS);
    if (status)
        return status;
    for (const struct nw_yaml *item = sizes->first; !status && item;
         item = item->next) {
        int32_t *size = &shape->size[shape->dimension_count++];

        status = nw_yaml_count(item, 1, NW_CLUSTER_MAX_SWITCHES, size);
        product *= status ? 1 : *size;
        if (product > NW_CLUSTER_MAX_SWITCHES)
            return nw_yaml_fail(sizes, "more than %d switches",
                                NW_CLUSTER_MAX_SWITCHES);
    }
    return status;
}

/* Fails if the list does not have one item for each dimension. */
static nw_status check_each(const struct nw_yaml *list,
                            const struct nw_torus *shape)
{
    if (list->count == (size_t)shape->dimension_count)
        return NW_OK;
    return nw_yaml_fail(
        list, "'%s' has %zu item%s for %d dimension%s", list->key, list->count,
        nw_plural((uint64_t)list->count), shape->dimension_count,
        nw_plural((uint64_t)shape->dimension_count));
}

static nw_status read_wrap(const struct nw_yaml *node, struct nw_torus *shape)
{
    const struct nw_yaml *wrap = nw_yaml_get(node, "wrap"), *item;
    bool list = wrap && wrap->kind == NW_YAML_LIST;
    nw_status status = list ? check_each(wrap, shape) : NW_OK;

    item = list ? wrap->first : wrap;
    for (int d = 0; !status && d < shape->dimension_count; d++) {
        shape->wrap[d] = true;
        if (wrap)
            status = nw_yaml_bool(item, &shape->wrap[d]);
        item = list ? item->next : item;
    }
    return status;
}

static nw_status read_torus_links(struct nw_cluster *cluster,
                                  const struct nw_yaml *node,
                                  struct nw_torus *shape)
{
    const struct nw_yaml *link = nw_yaml_get(node, "link"), *item;
    bool list = link && link->kind == NW_YAML_LIST;
    nw_status status = list ? check_each(link, shape) : NW_OK;

    item = list ? link->first : link;
    for (int d = 0; !status && d < shape->dimension_count; d++) {
        status = nw_cluster_figures(cluster, item, NW_LINK_NETWORK,
                                    &shape->class[d]);
        item = list ? item->next : item;
    }
    return status;
}

nw_status nw_cluster_torus(struct nw_cluster *cluster,
                           const struct nw_yaml *node)
{
    struct nw_torus shape = {0};
    struct nw_network *network;
    nw_status status =
        nw_yaml_check_map(node, "'torus'", "dimensions wrap link switch_nodes");

    cluster->fill.each = 1;
    if (!status)
        status = nw_yaml_count_at(node, "switch_nodes", NW_CLUSTER_MAX_SWITCHES,
                                  &cluster->fill.each);
    if (!status)
        status = regular_network_read_sizes(node, &shape);
    if (!status)
        status = read_wrap(node, &shape);
    if (!status)
        status = read_torus_links(cluster, node, &shape);
    if (!status)
        status = nw_network_torus(&shape, &network);
    if (status)
        return status;
    cluster->fill.switches = network->switch_count;
    nw_topology_take_network(cluster->topology, network);
    return NW_OK;
}

static nw_status read_dragonfly_shape(struct nw_cluster *cluster,
                                      const struct nw_yaml *node,
                                      struct nw_dragonfly *shape)
{
    const struct {
        const char *key;
        int32_t *value;
    } counts[] = {
        {"groups", &shape->groups},
        {"routers", &shape->routers},
        {"global_links", &shape->global_links},
        {"router_nodes", &cluster->fill.each},
    };
    nw_status status = nw_yaml_check_map(node, "'dragonfly'",
                                         "groups routers global_links "
                                         "router_nodes local global");

    for (size_t i = 0; !status && i < sizeof counts / sizeof *counts; i++) {
        const struct nw_yaml *count;

        status = nw_yaml_need(node, counts[i].key, &count);
        if (!status)
            status = nw_yaml_count(count, 1, 65536, counts[i].value);
    }
    if (!status)
        status = nw_cluster_figures(cluster, nw_yaml_get(node, "local"),
                                    NW_LINK_NETWORK, &shape->local_class);
    if (!status)
        status = nw_cluster_figures(cluster, nw_yaml_get(node, "global"),
                                    NW_LINK_NETWORK, &shape->global_class);
    return status;
}

nw_status nw_cluster_dragonfly(struct nw_cluster *cluster,
                               const struct nw_yaml *node)
{
    struct nw_dragonfly shape = {0};
    struct nw_network *network;
    int64_t groups, routers;
    nw_status status = read_dragonfly_shape(cluster, node, &shape);

    if (status)
        return status;
    groups = shape.groups;
    routers = shape.routers;
    if (!nw_dragonfly_rounds(&shape))
        return nw_yaml_fail(
            node,
            "%d router%s of %d global link%s cannot reach %d other group%s",
            shape.routers, nw_plural((uint64_t)shape.routers),
            shape.global_links, nw_plural((uint64_t)shape.global_links),
            shape.groups - 1, nw_plural((uint64_t)(shape.groups - 1)));
    status = regular_network_check_size(node, groups * routers,
                                        groups * (routers * (routers - 1) / 2) +
                                            groups * routers *
                                                shape.global_links / 2);
    if (!status)
        status = nw_network_dragonfly(&shape, &network);
    if (status)
        return status;
    cluster->fill.switches = network->switch_count;
    nw_topology_take_network(cluster->topology, network);
    return NW_OK;
}

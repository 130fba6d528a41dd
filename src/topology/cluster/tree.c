/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a tree of switches from nested items, each of which names a list of
 * switches. The switches of an item are distributed evenly over the switches of
 * the item above. */
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/cluster/cluster.h"

#include <stdlib.h>
#include <string.h>

/* The switches, in the order of the file until sort_tree puts them in
 * depth-first order. In both, parents come before children. */
struct tree {
    struct nw_cluster *cluster;
    struct nw_hostlist names;
    size_t capacity;
    int32_t *parent;
    int32_t *class; /* [switch] class of the link to the parent */
    size_t class_capacity;
    /* class of the link to the parent for switches without a key 'link': that
     * of the root's key 'link' */
    int32_t otherwise;
};

/* Consecutive switches, those of one item. The switches of each item below are
 * divided evenly among them. */
struct above {
    int32_t first, count;
};

static nw_status add_range(struct tree *tree, const struct nw_yaml *node,
                           struct above above, struct above *out)
{
    const struct nw_yaml *names, *link = nw_yaml_get(node, "link");
    size_t before = tree->names.count, count;
    int32_t class = tree->otherwise;
    nw_status status = nw_yaml_need(node, "switch", &names);

    if (!status)
        status = nw_cluster_names(names, &tree->names);
    if (!status && link)
        status =
            nw_cluster_figures(tree->cluster, link, NW_LINK_NETWORK, &class);
    if (status)
        return status;
    count = tree->names.count - before;
    if (count % (size_t)above.count)
        return nw_yaml_fail(
            names, "%zu switch%s cannot be shared out evenly over %d", count,
            nw_by_count((uint64_t)count, "", "es"), above.count);
    status = nw_grow(&tree->parent, &tree->capacity, tree->names.count,
                     sizeof *tree->parent);
    if (!status)
        status = nw_grow(&tree->class, &tree->class_capacity, tree->names.count,
                         sizeof *tree->class);
    for (size_t i = 0; !status && i < count; i++) {
        tree->parent[before + i] =
            above.first + (int32_t)(i / (count / (size_t)above.count));
        tree->class[before + i] = class;
    }
    *out = (struct above){(int32_t)before, (int32_t)count};
    return status;
}

static nw_status read_below(struct tree *tree, const struct nw_yaml *node,
                            struct above above)
{
    const struct nw_yaml *list = nw_yaml_get(node, "switches");
    nw_status status = NW_OK;

    if (list)
        status = nw_yaml_check_list(list, "'switches'");
    for (const struct nw_yaml *item = list ? list->first : NULL;
         !status && item; item = item->next) {
        struct above here;

        status = nw_yaml_check_map(item, "a switch", "switch switches link");
        if (!status)
            status = add_range(tree, item, above, &here);
        if (!status)
            status = read_below(tree, item, here);
    }
    return status;
}

static nw_status tree_read_root(struct tree *tree, const struct nw_yaml *node)
{
    struct above root;
    nw_status status =
        nw_yaml_check_map(node, "'tree'", "switch switches link");

    if (!status)
        status = nw_cluster_figures(tree->cluster, nw_yaml_get(node, "link"),
                                    NW_LINK_NETWORK, &tree->otherwise);
    if (!status)
        status = add_range(tree, node, (struct above){-1, 1}, &root);
    if (!status && root.count != 1)
        status = nw_yaml_fail(node, "a tree has one switch at its root");
    if (status)
        return status;
    tree->parent[0] = -1;
    return read_below(tree, node, root);
}

/* Fills `order` with the switches depth first: each switch, then its children
 * in the order of the file. write_network.c relies on this order. */
static nw_status walk_order(const struct tree *tree, int32_t *order)
{
    size_t n = tree->names.count;
    int32_t *first = NULL, *next = NULL, count = 0, at = 0;
    nw_status status = nw_alloc(n, sizeof *first, &first);

    if (!status)
        status = nw_alloc(n, sizeof *next, &next);
    for (size_t s = 0; !status && s < n; s++)
        first[s] = next[s] = -1;
    for (size_t s = n; !status && s-- > 1;) {
        next[s] = first[tree->parent[s]];
        first[tree->parent[s]] = (int32_t)s;
    }
    while (!status && at >= 0) {
        order[count++] = at;
        if (first[at] >= 0) {
            at = first[at];
            continue;
        }
        while (at >= 0 && next[at] < 0)
            at = tree->parent[at];
        at = at < 0 ? -1 : next[at];
    }
    free(first);
    free(next);
    return status;
}

/* Renumbers the switches depth first, in the order that walk_order finds. */
static nw_status sort_tree(struct tree *tree)
{
    size_t n = tree->names.count;
    int32_t *order = NULL, *old = NULL, *place = NULL;
    char **name = NULL;
    nw_status status = nw_alloc(n, sizeof *order, &order);

    if (!status)
        status = nw_alloc(3 * n, sizeof *old, &old);
    if (!status)
        status = nw_alloc(n, sizeof *name, &name);
    if (!status)
        status = walk_order(tree, order);
    place = old ? old + 2 * n : NULL;
    for (size_t s = 0; !status && s < n; s++) {
        old[s] = tree->parent[s];
        old[n + s] = tree->class[s];
        name[s] = tree->names.name[s];
        place[order[s]] = (int32_t)s;
    }
    for (size_t s = 0; !status && s < n; s++) {
        int32_t from = order[s];

        tree->names.name[s] = name[from];
        tree->class[s] = old[n + (size_t)from];
        tree->parent[s] = old[from] < 0 ? -1 : place[old[from]];
    }
    free(order);
    free(old);
    free(name);
    return status;
}

/* Moves the names and parents into a network and links each switch to its
 * parent. */
static nw_status tree_build_tree(struct tree *tree, struct nw_network *network)
{
    int32_t count = (int32_t)tree->names.count;
    nw_status status =
        nw_alloc((size_t)count, sizeof *network->uplink, &network->uplink);

    for (int32_t s = 0; s < count; s++) {
        network->switch_name[s] = tree->names.name[s];
        tree->names.name[s] = NULL;
    }
    network->parent = tree->parent;
    tree->parent = NULL;
    for (int32_t s = 0; !status && s < count; s++) {
        network->uplink[s] = -1;
        if (network->parent[s] >= 0)
            status = nw_network_add_link(network, s, network->parent[s],
                                         tree->class[s], &network -> uplink[s]);
    }
    return status ? status : nw_network_finish_tree(network);
}

nw_status nw_cluster_tree(struct nw_cluster *cluster,
                          const struct nw_yaml *node)
{
    struct tree tree = {.cluster = cluster};
    struct nw_network *network;
    nw_status status = tree_read_root(&tree, node);

    if (!status)
        status = sort_tree(&tree);
    if (!status)
        status = nw_network_new((int32_t)tree.names.count, &network);
    if (!status) {
        nw_topology_take_network(cluster->topology, network);
        status = nw_yaml_place(node, tree_build_tree(&tree, network));
    }
    nw_hostlist_fini(&tree.names);
    free(tree.parent);
    free(tree.class);
    return status;
}

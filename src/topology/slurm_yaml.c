/* SPDX-License-Identifier: BSD-3-Clause */
/* topology.yaml: a list of topologies, of which one is the default. Trees,
 * blocks and flat ones as Slurm documents them; rings are read too. */
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/cluster.h"
#include "topology/networks.h"
#include "topology/slurm.h"

#include <stdlib.h>
#include <string.h>

static nw_status take_names(const struct nw_yaml *item, const char *key,
                            struct nw_hostlist *names)
{
    const struct nw_yaml *value = nw_yaml_get(item, key);

    return value ? nw_cluster_names(value, names) : NW_OK;
}

static nw_status add_switch(struct nw_slurm *slurm, const struct nw_yaml *item,
                            const char *key)
{
    const struct nw_yaml *named;
    const char *text;
    char *name;
    nw_status status = nw_yaml_need(item, key, &named);

    if (!status)
        status = nw_yaml_text(named, &text);
    if (!status && !nw_fabric_is_name(text))
        status = nw_yaml_fail(named, "'%s' is no name of a %s", text, key);
    if (!status)
        status = nw_strdup(text, &name);
    if (!status)
        status = nw_slurm_add(slurm, name, item->line);
    if (!status)
        status =
            take_names(item, "children", &slurm->at[slurm->count - 1].below);
    if (!status)
        status = take_names(item, "nodes", &slurm->at[slurm->count - 1].nodes);
    return status;
}

static nw_status read_tree(struct nw_slurm *slurm, const struct nw_yaml *tree)
{
    const struct nw_yaml *list;
    nw_status status = nw_yaml_check_map(tree, "'tree'", "switches");

    if (!status)
        status = nw_yaml_need(tree, "switches", &list);
    if (!status)
        status = nw_yaml_check_list(list, "'switches'");
    for (const struct nw_yaml *item = status ? NULL : list->first;
         !status && item; item = item->next) {
        status = nw_yaml_check_map(item, "a switch",
                                   "switch children nodes link_speed");
        if (!status)
            status = add_switch(slurm, item, "switch");
    }
    return status;
}

static nw_status read_sizes(const struct nw_yaml *list, int32_t sizes[16],
                            size_t *count)
{
    nw_status status = nw_yaml_check_list(list, "'block_sizes'");

    if (!status && list->count > 16)
        status = nw_yaml_fail(list, "more than 16 sizes of blocks");
    for (const struct nw_yaml *item = list->first; !status && item;
         item = item->next)
        status = nw_yaml_count(item, 1, 1 << 20, &sizes[(*count)++]);
    return status;
}

static nw_status read_blocks(struct nw_slurm *slurm,
                             const struct nw_yaml *block)
{
    const struct nw_yaml *sizes, *list;
    int32_t size[16];
    size_t count = 0;
    nw_status status =
        nw_yaml_check_map(block, "'block'", "block_sizes blocks");

    if (!status)
        status = nw_yaml_need(block, "block_sizes", &sizes);
    if (!status)
        status = read_sizes(sizes, size, &count);
    if (!status)
        status = nw_yaml_need(block, "blocks", &list);
    if (!status)
        status = nw_yaml_check_list(list, "'blocks'");
    for (const struct nw_yaml *item = status ? NULL : list->first;
         !status && item; item = item->next) {
        status = nw_yaml_check_map(item, "a block", "block nodes");
        if (!status)
            status = add_switch(slurm, item, "block");
    }
    return status ? status : nw_slurm_group(slurm, size, count);
}

/* A ring of nodes, each with a switch of its own, as in a torus of one
 * dimension. */
static nw_status make_ring(struct nw_slurm *slurm,
                           const struct nw_hostlist *nodes,
                           enum nw_elements elements)
{
    struct nw_link_class cable = nw_link_assumed(NW_LINK_NETWORK);
    struct nw_link_class port = nw_link_assumed(NW_LINK_NIC);
    struct nw_torus shape = {
        .dimension_count = 1, .size = {(int32_t)nodes->count}, .wrap = {true}};
    struct nw_fabric fabric = {
        .file = slurm->file, .topology = slurm->topology, .cardless = true};
    struct nw_fabric_card card = {0};
    struct nw_network *network;
    nw_status status =
        nw_topology_class(slurm->topology, &cable, &shape.class[0]);

    if (!status)
        status = nw_topology_class(slurm->topology, &port, &card.class);
    if (!status)
        status = nw_network_torus(&shape, &network);
    if (status)
        return status;
    nw_topology_take_network(slurm->topology, network);
    for (size_t i = 0; !status && i < nodes->count; i++) {
        card.at = (int32_t)i;
        status = nw_fabric_add_host(&fabric, nodes->name[i], 1);
        if (!status)
            status = nw_fabric_add_card(&fabric, &card);
    }
    if (!status)
        status = nw_fabric_finish(&fabric, elements);
    nw_fabric_fini(&fabric);
    return status;
}

static nw_status read_ring(struct nw_slurm *slurm, const struct nw_yaml *ring,
                           enum nw_elements elements)
{
    const struct nw_yaml *list, *nodes;
    struct nw_hostlist names = {0};
    nw_status status = nw_yaml_check_map(ring, "'ring'", "rings");

    if (!status)
        status = nw_yaml_need(ring, "rings", &list);
    if (!status)
        status = nw_yaml_check_list(list, "'rings'");
    if (!status && list->count != 1)
        status = nw_yaml_fail(list, "several rings, which nothing joins");
    if (!status)
        status = nw_yaml_check_map(list->first, "a ring", "ring nodes");
    if (!status)
        status = nw_yaml_need(list->first, "nodes", &nodes);
    if (!status)
        status = nw_cluster_names(nodes, &names);
    if (!status)
        status = make_ring(slurm, &names, elements);
    nw_hostlist_fini(&names);
    return status;
}

static bool is_default(const struct nw_yaml *item)
{
    const struct nw_yaml *value = nw_yaml_get(item, "cluster_default");

    return value && value->kind == NW_YAML_SCALAR &&
           !strcasecmp(value->text, "true");
}

static nw_status choose(const struct nw_yaml *root, const char *name,
                        const struct nw_yaml **out)
{
    const struct nw_yaml *chosen = root->first;
    nw_status status = nw_yaml_check_list(root, "topology.yaml");

    for (const struct nw_yaml *item = root->first; !status && item;
         item = item->next) {
        const struct nw_yaml *named;

        status = nw_yaml_check_map(item, "a topology",
                                   "topology cluster_default tree block flat "
                                   "ring");
        if (!status)
            status = nw_yaml_need(item, "topology", &named);
        if (status)
            return status;
        if (name ? named->kind == NW_YAML_SCALAR && !strcmp(named->text, name)
                 : is_default(item)) {
            *out = item;
            return NW_OK;
        }
    }
    if (!status && name)
        status = nw_yaml_fail(root, "there is no topology '%s'", name);
    if (!status)
        *out = chosen;
    return status;
}

nw_status nw_slurm_yaml(struct nw_slurm *slurm, const struct nw_yaml *root,
                        const char *name, enum nw_elements elements)
{
    const struct nw_yaml *item, *tree, *block, *ring;
    nw_status status = choose(root, name, &item);

    if (status)
        return status;
    tree = nw_yaml_get(item, "tree");
    block = nw_yaml_get(item, "block");
    ring = nw_yaml_get(item, "ring");
    if (!!tree + !!block + !!ring + !!nw_yaml_get(item, "flat") != 1)
        return nw_yaml_fail(item, "a topology is one of tree, block, ring and "
                                  "flat");
    if (ring)
        return read_ring(slurm, ring, elements);
    if (tree)
        status = read_tree(slurm, tree);
    else if (block)
        status = read_blocks(slurm, block);
    else
        status = nw_yaml_fail(item, "a flat topology names no nodes");
    return status ? status : nw_slurm_build(slurm, elements);
}

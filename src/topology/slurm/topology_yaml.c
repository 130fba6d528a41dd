/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads topology.yaml, a list of topologies of which one may be the default.
 * Reads trees and blocks; slurm/torus.c reads rings and tori. A flat topology
 * is an error, since it does not list nodes. */
#include "base/array.h"
#include "base/hostlist.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/cluster/cluster.h"
#include "topology/network/networks.h"
#include "topology/slurm/slurm.h"

#include <stdlib.h>
#include <string.h>

static nw_status take_names(const struct nw_yaml *item, const char *key,
                            struct nw_hostlist *names)
{
    const struct nw_yaml *value = nw_yaml_get(item, key);

    return value ? nw_cluster_names(value, names) : NW_OK;
}

static nw_status topology_yaml_add_switch(struct nw_slurm *slurm,
                                          const struct nw_yaml *item,
                                          const char *key)
{
    const struct nw_yaml *named;
    const char *text;
    char *name;
    nw_status status = nw_yaml_need(item, key, &named);

    if (!status)
        status = nw_yaml_text(named, &text);
    if (!status && !nw_host_is_listable(text))
        status =
            nw_yaml_fail(named, "'%s' is not a valid name of a %s", text, key);
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
            status = topology_yaml_add_switch(slurm, item, "switch");
    }
    return status;
}

static nw_status topology_yaml_read_sizes(const struct nw_yaml *list,
                                          int32_t sizes[16], size_t *count)
{
    nw_status status = nw_yaml_check_list(list, "'block_sizes'");

    if (!status && list->count > 16)
        status = nw_yaml_fail(list, "more than 16 sizes of blocks");
    for (const struct nw_yaml *item = list->first; !status && item;
         item = item->next) {
        status = nw_yaml_count(item, 1, 1 << 20, &sizes[*count]);
        if (!status && !nw_slurm_size_fits(sizes, *count, sizes[*count]))
            status =
                nw_yaml_fail(item, "block_sizes: %d must be a multiple of %d",
                             sizes[*count], sizes[*count - 1]);
        ++*count;
    }
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
        status = topology_yaml_read_sizes(sizes, size, &count);
    if (!status)
        status = nw_yaml_need(block, "blocks", &list);
    if (!status)
        status = nw_yaml_check_list(list, "'blocks'");
    for (const struct nw_yaml *item = status ? NULL : list->first;
         !status && item; item = item->next) {
        status = nw_yaml_check_map(item, "a block", "block nodes");
        if (!status)
            status = topology_yaml_add_switch(slurm, item, "block");
    }
    return status ? status : nw_slurm_group(slurm, size, count);
}

static bool is_default(const struct nw_yaml *item)
{
    static const char *const words[] = {"true", "yes", "on", "1"};
    const struct nw_yaml *value = nw_yaml_get(item, "cluster_default");
    bool found = false;

    for (size_t i = 0; value && i < sizeof words / sizeof *words; i++)
        found |=
            value->kind == NW_YAML_SCALAR && !strcasecmp(value->text, words[i]);
    return found;
}

static nw_status topology_yaml_choose(const struct nw_yaml *root,
                                      const char *name,
                                      const struct nw_yaml **out)
{
    const struct nw_yaml *chosen = root->first;
    nw_status status = nw_yaml_check_list(root, "topology.yaml");

    for (const struct nw_yaml *item = root->first; !status && item;
         item = item->next) {
        const struct nw_yaml *named;

        status = nw_yaml_check_map(item, "a topology",
                                   "topology cluster_default tree block flat "
                                   "ring torus3d");
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
        status =
            nw_yaml_fail(root, "unknown topology '%s': not in this file", name);
    if (!status)
        *out = chosen;
    return status;
}

nw_status nw_slurm_yaml(struct nw_slurm *slurm, const struct nw_yaml *root,
                        const char *name, enum nw_elements elements)
{
    const struct nw_yaml *item, *tree, *block, *ring, *torus;
    nw_status status = topology_yaml_choose(root, name, &item);

    if (status)
        return status;
    tree = nw_yaml_get(item, "tree");
    block = nw_yaml_get(item, "block");
    ring = nw_yaml_get(item, "ring");
    torus = nw_yaml_get(item, "torus3d");
    if (!!tree + !!block + !!ring + !!torus + !!nw_yaml_get(item, "flat") != 1)
        return nw_yaml_fail(item, "a topology is one of tree, block, ring, "
                                  "torus3d and flat");
    if (ring)
        return nw_slurm_ring(slurm, ring, elements);
    if (torus)
        return nw_slurm_torus(slurm, torus, elements);
    if (tree)
        status = read_tree(slurm, tree);
    else if (block)
        status = read_blocks(slurm, block);
    else
        status =
            nw_yaml_fail(item, "a flat topology has no switches and lists no "
                               "nodes: describe the machine by --new");
    return status ? status : nw_slurm_build(slurm, elements);
}

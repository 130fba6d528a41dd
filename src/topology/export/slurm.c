/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes topology.conf and topology.yaml of Slurm: switches as a tree, or
 * blocks of nodes. A block is an NVLink domain, or a leaf switch if the machine
 * has no domains. */
#include "base/array.h"
#include "base/hostlist.h"
#include "base/status.h"
#include "topology/export/switch_tree.h"

#include <stdlib.h>
#include <string.h>

struct slurm_file {
    struct nw_export *export;
    bool yaml, block;
    struct nw_switch_tree tree;
    const char **list; /* buffer for the names of the list that is being
                          written */
};

/* Fails if Slurm's files cannot contain the name: a blank or '=' ends a name in
 * these files. */
static nw_status slurm_check_name(const char *what, const char *name)
{
    if (nw_host_is_listable(name) && !strchr(name, '='))
        return NW_OK;
    return nw_fail(NW_EUNSUPPORTED,
                   "%s '%s': Slurm's files cannot contain this name; rename it "
                   "in a cluster file (-o FILE.yaml)",
                   what, name);
}

static nw_status slurm_check_nodes(const nw_topology *topology)
{
    nw_status status = NW_OK;

    for (int32_t n = 0; !status && n < topology->node_count; n++)
        status = slurm_check_name("node", topology->node_name[n]);
    return status;
}

/* Begins the entry of a switch or block with its name. */
static void slurm_add_name(struct slurm_file *file, const char *name)
{
    const char *word = file->block ? "block" : "switch";

    if (file->yaml)
        nw_text_format(&file->export->text, "      - %s: \"%s\"\n", word, name);
    else
        nw_text_format(&file->export->text, "%s=%s",
                       file->block ? "BlockName" : "SwitchName", name);
}

static nw_status slurm_add_list(struct slurm_file *file, const char *key,
                                size_t count)
{
    char *words;
    nw_status status = nw_hostlist_compress(file->list, count, &words);

    if (status)
        return status;
    nw_text_format(&file->export->text,
                   file->yaml ? "        %s: \"%s\"\n" : " %s=%s", key, words);
    free(words);
    return NW_OK;
}

static void slurm_end_item(struct slurm_file *file)
{
    nw_text_add(&file->export->text, file->yaml ? "" : "\n");
}

static nw_status slurm_add_nodes(struct slurm_file *file,
                                 const struct nw_groups *nodes, int32_t g)
{
    size_t count = nw_groups_count(nodes, g);

    for (size_t i = 0; i < count; i++)
        file->list[i] =
            file->export->topology
                ->node_name[nodes->item[(size_t)nodes->first[g] + i]];
    return slurm_add_list(file, file->yaml ? "nodes" : "Nodes", count);
}

static nw_status slurm_add_below(struct slurm_file *file, int32_t s)
{
    const struct nw_groups *below = &file->tree.below;
    size_t count = nw_groups_count(below, s);

    for (size_t i = 0; i < count; i++)
        file->list[i] =
            file->tree.name[below->item[(size_t)below->first[s] + i]];
    return slurm_add_list(file, file->yaml ? "children" : "Switches", count);
}

static nw_status slurm_add_switch(struct slurm_file *file, int32_t s)
{
    size_t below = nw_groups_count(&file->tree.below, s);
    size_t nodes = nw_groups_count(&file->tree.nodes, s);
    nw_status status = slurm_check_name("switch", file->tree.name[s]);

    if (!status && below && nodes)
        status = nw_fail(NW_EUNSUPPORTED,
                         "switch '%s' has nodes and switches below it, which "
                         "Slurm refuses; give the nodes a switch of their own "
                         "in a cluster file (-o FILE.yaml)",
                         file->tree.name[s]);
    if (status)
        return status;
    slurm_add_name(file, file->tree.name[s]);
    status = below ? slurm_add_below(file, s)
                   : slurm_add_nodes(file, &file->tree.nodes, s);
    slurm_end_item(file);
    return status;
}

static nw_status slurm_write_tree(struct slurm_file *file)
{
    nw_status status = NW_OK;

    if (file->yaml)
        nw_text_add(&file->export->text, "  tree:\n    switches:\n");
    for (int32_t s = 0; !status && s < file->tree.count; s++)
        status = slurm_add_switch(file, s);
    return status;
}

/* --- blocks --- */

/* The blocks, and the switch of each group of blocks. At first each block is a
 * group. slurm_add_larger joins groups to larger ones, level by level. */
struct slurm_blocks {
    int32_t count;
    const char **name;      /* [count] names of the blocks, borrowed */
    int32_t *group;         /* [groups so far] switch of the tree with which the
                               group corresponds; -1: none */
    struct nw_groups nodes; /* nodes of each block */
};

static void slurm_fini_blocks(struct slurm_blocks *blocks)
{
    free(blocks->name);
    free(blocks->group);
    nw_groups_fini(&blocks->nodes);
}

/* Makes a block from each NVLink domain. Fails if a node is in no domain. */
static nw_status slurm_take_domains(const nw_topology *t,
                                    struct slurm_blocks *blocks)
{
    for (int32_t n = 0; n < t->node_count; n++)
        if (t->domain[n] < 0)
            return nw_fail(NW_EUNSUPPORTED,
                           "node '%s' is in no NVLink domain, and domains are "
                           "the blocks of this machine",
                           t->node_name[n]);
    for (int32_t d = 0; d < t->domain_count; d++) {
        blocks->name[d] = t->domain_name[d];
        blocks->group[d] = -1;
    }
    blocks->count = t->domain_count;
    return nw_groups_make(t->domain, t->node_count, blocks->count,
                          &blocks->nodes);
}

/* Makes a block from each switch of the tree to which nodes are connected. */
static nw_status slurm_take_leaves(struct slurm_file *file,
                                   struct slurm_blocks *blocks)
{
    const nw_topology *t = file->export->topology;
    const struct nw_switch_tree *tree = &file->tree;
    int32_t *block_of;
    nw_status status =
        nw_alloc((size_t)t->node_count, sizeof *block_of, &block_of);

    for (int32_t s = 0; !status && s < tree->count; s++) {
        const int32_t *node = tree->nodes.item + tree->nodes.first[s];
        size_t nodes = nw_groups_count(&tree->nodes, s);

        if (!nodes)
            continue;
        for (size_t i = 0; i < nodes; i++)
            block_of[node[i]] = blocks->count;
        blocks->name[blocks->count] = tree->name[s];
        blocks->group[blocks->count++] = s;
    }
    if (!status)
        status = nw_groups_make(block_of, t->node_count, blocks->count,
                                &blocks->nodes);
    free(block_of);
    return status;
}

/* Returns the number of consecutive groups below each switch of the next level;
 * the last switch may have fewer. Returns 0 unless this number is a power of
 * two from 2 on, equal for all switches, and less than the number of groups. */
static int32_t slurm_groups_each(const struct slurm_file *file,
                                 const struct slurm_blocks *blocks,
                                 int32_t groups)
{
    const int32_t *parent = file->tree.parent;
    int32_t each = 0, run = 0;

    for (int32_t g = 0; g < groups; g++) {
        int32_t above = parent[blocks->group[g]];
        bool last = g + 1 == groups, ends;

        if (above < 0)
            return 0;
        run++;
        ends = last || parent[blocks->group[g + 1]] != above;
        if (!ends)
            continue;
        if (!each)
            each = run;
        if (run > each || (run < each && !last))
            return 0;
        run = 0;
    }
    return each > 1 && each < groups && !(each & (each - 1)) ? each : 0;
}

/* Writes the sizes of larger blocks, level by level, as long as the switches of
 * the next level have equally many groups. `size` is that of the smallest
 * block. Notes a loss if switches above the blocks are not expressed. */
static void slurm_add_larger(struct slurm_file *file,
                             struct slurm_blocks *blocks, size_t size)
{
    int32_t groups = blocks->count, each;

    while (blocks->group[0] >= 0 &&
           (each = slurm_groups_each(file, blocks, groups))) {
        size *= (size_t)each;
        nw_text_format(&file->export->text, file->yaml ? ", %zu" : ",%zu",
                       size);
        for (int32_t g = 0; g < groups; g += each)
            blocks->group[g / each] = file->tree.parent[blocks->group[g]];
        groups = (groups + each - 1) / each;
    }
    for (int32_t g = 0; g < groups; g++)
        if (blocks->group[g] < 0 ||
            (file->tree.parent[blocks->group[g]] !=
             file->tree.parent[blocks->group[0]]) ||
            (file->tree.parent[blocks->group[g]] >= 0 &&
             file->tree.parent[file->tree.parent[blocks->group[g]]] >= 0)) {
            nw_export_lose(file->export, "the switches above the blocks");
            return;
        }
}

/* Writes the block sizes. The base size, with which Slurm plans, is that of the
 * smallest block. Notes a loss if blocks differ in size. */
static void slurm_add_sizes(struct slurm_file *file,
                            struct slurm_blocks *blocks)
{
    size_t least = SIZE_MAX, most = 0;

    for (int32_t b = 0; b < blocks->count; b++) {
        size_t size = nw_groups_count(&blocks->nodes, b);

        least = size < least ? size : least;
        most = size > most ? size : most;
    }
    nw_text_format(&file->export->text,
                   file->yaml ? "  block:\n    block_sizes: [%zu"
                              : "BlockSizes=%zu",
                   least);
    slurm_add_larger(file, blocks, least);
    nw_text_add(&file->export->text, file->yaml ? "]\n    blocks:\n" : "\n");
    if (most > least)
        nw_export_lose(file->export,
                       "the differences between blocks of %zu to %zu nodes "
                       "(Slurm plans with %zu)",
                       least, most, least);
}

static nw_status slurm_write_blocks(struct slurm_file *file)
{
    const nw_topology *t = file->export->topology;
    struct slurm_blocks blocks = {0};
    size_t room = (size_t)(t->domain_count + file->tree.count);
    nw_status status = nw_alloc(room, sizeof *blocks.name, &blocks.name);

    if (!status)
        status = nw_alloc(room, sizeof *blocks.group, &blocks.group);
    if (!status)
        status = t->domain ? slurm_take_domains(t, &blocks)
                           : slurm_take_leaves(file, &blocks);
    if (!status && file->yaml)
        slurm_add_sizes(file, &blocks);
    for (int32_t b = 0; !status && b < blocks.count; b++) {
        status = slurm_check_name("block", blocks.name[b]);
        if (status)
            break;
        slurm_add_name(file, blocks.name[b]);
        status = slurm_add_nodes(file, &blocks.nodes, b);
        slurm_end_item(file);
    }
    if (!status && !file->yaml)
        slurm_add_sizes(file, &blocks);
    slurm_fini_blocks(&blocks);
    return status;
}

/* --- one writer for each of the four formats --- */

static nw_status slurm_write(struct nw_export *export, bool yaml, bool block)
{
    const nw_topology *t = export->topology;
    struct slurm_file file = {.export = export, .yaml = yaml, .block = block};
    nw_status status = nw_switch_tree_make(export, &file.tree);

    if (!status)
        status = slurm_check_nodes(t);
    if (!status)
        status = nw_alloc((size_t)(t->node_count + file.tree.count),
                          sizeof *file.list, &file.list);
    if (!status) {
        nw_export_lose_inside(export);
        if (t->domain && !block)
            nw_export_lose(export, "the NVLink domains (%s has them)",
                           yaml ? "slurm-yaml-block" : "slurm-block");
        if (t->upper && block)
            nw_export_lose(export, "the second level of NVLink domains");
        if (yaml)
            nw_text_add(&export->text, "- topology: default\n"
                                       "  cluster_default: true\n");
        status = block ? slurm_write_blocks(&file) : slurm_write_tree(&file);
    }
    free(file.list);
    nw_switch_tree_fini(&file.tree);
    return status;
}

nw_status nw_export_slurm(struct nw_export *export)
{
    return slurm_write(export, false, false);
}

nw_status nw_export_slurm_block(struct nw_export *export)
{
    return slurm_write(export, false, true);
}

nw_status nw_export_slurm_yaml(struct nw_export *export)
{
    return slurm_write(export, true, false);
}

nw_status nw_export_slurm_yaml_block(struct nw_export *export)
{
    return slurm_write(export, true, true);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a tree of switches from any network. A network that is a tree is
 * copied. For other networks the tree is built level by level: switches of a
 * level that are connected by links up to the next level get one common switch
 * above them. */
#include "topology/export/switch_tree.h"
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/network/networks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nw_switch_tree_fini(struct nw_switch_tree *tree)
{
    for (int32_t i = 0; i < tree->count; i++)
        free(tree->name[i]);
    free(tree->name);
    free(tree->parent);
    free(tree->origin);
    free(tree->node_at);
    nw_groups_fini(&tree->below);
    nw_groups_fini(&tree->nodes);
}

static int32_t tree_port_of(const nw_topology *topology, int32_t node)
{
    return topology->port[topology->port_first[node]];
}

/* Reports nodes whose NICs are connected to several switches: the tree keeps
 * only the switch of the first NIC. */
static void lose_ports(struct nw_export *export)
{
    const nw_topology *t = export->topology;
    int32_t count = 0;

    for (int32_t n = 0; n < t->node_count; n++)
        for (int32_t p = t->port_first[n] + 1; p < t->port_first[n + 1]; p++)
            if (t->port[p] != tree_port_of(t, n)) {
                count++;
                break;
            }
    if (count)
        nw_export_lose(export,
                       "all but the first card of %d node%s whose cards are at "
                       "several switches",
                       count, nw_plural((uint64_t)count));
}

static nw_status tree_add(struct nw_switch_tree *tree, const char *name,
                          int32_t origin)
{
    size_t need = (size_t)tree->count + 1;
    nw_status status =
        nw_grow(&tree->name, &tree->capacity[0], need, sizeof *tree->name);

    if (!status)
        status = nw_grow(&tree->parent, &tree->capacity[1], need,
                         sizeof *tree->parent);
    if (!status)
        status = nw_grow(&tree->origin, &tree->capacity[2], need,
                         sizeof *tree->origin);
    if (!status)
        status = nw_strdup(name, &tree->name[tree->count]);
    if (status)
        return status;
    tree->parent[tree->count] = -1;
    tree->origin[tree->count++] = origin;
    return NW_OK;
}

/* --- a network that is a tree --- */

/* Returns true if s is the switch "(top)", which the reader of Slurm's files
 * adds to join separate trees. */
static bool is_joint(const struct nw_network *network, int32_t s)
{
    return network->parent[s] < 0 && !strcmp(network->switch_name[s], "(top)");
}

/* Sets used[s] if the first NIC of a node is connected to switch s or to a
 * switch below it. Returns the number of these switches. */
static int32_t mark_used(const nw_topology *t, bool *used)
{
    const struct nw_network *network = t->network;
    int32_t count = 0;

    for (int32_t n = 0; n < t->node_count; n++)
        used[tree_port_of(t, n)] = true;
    for (int32_t s = network->switch_count - 1; s > 0; s--)
        if (used[s] && network->parent[s] >= 0)
            used[network->parent[s]] = true;
    for (int32_t s = 0; s < network->switch_count; s++)
        count += used[s];
    return count;
}

static nw_status copy_switches(const nw_topology *t, const bool *used,
                               int32_t *number, struct nw_switch_tree *out)
{
    const struct nw_network *network = t->network;
    nw_status status = NW_OK;

    for (int32_t s = 0; !status && s < network->switch_count; s++) {
        int32_t above = network->parent[s];

        number[s] = -1;
        if (!used[s] || is_joint(network, s))
            continue;
        number[s] = out->count;
        status = tree_add(out, network->switch_name[s], s);
        if (!status)
            out->parent[number[s]] = above < 0 ? -1 : number[above];
    }
    for (int32_t n = 0; !status && n < t->node_count; n++)
        out->node_at[n] = number[tree_port_of(t, n)];
    return status;
}

static nw_status copy_tree(struct nw_export *export, struct nw_switch_tree *out)
{
    const nw_topology *t = export->topology;
    size_t count = (size_t)t->network->switch_count;
    int32_t *number = NULL, kept;
    bool *used = NULL;
    nw_status status = nw_alloc(count, sizeof *number, &number);

    if (!status)
        status = nw_alloc(count, sizeof *used, &used);
    if (!status) {
        kept = mark_used(t, used);
        status = copy_switches(t, used, number, out);
        if (kept < (int32_t)count)
            nw_export_lose(
                export, "%d switch%s without nodes", (int32_t)count - kept,
                nw_by_count((uint64_t)((int32_t)count - kept), "", "es"));
    }
    for (int32_t n = 0; !status && n < t->node_count; n++)
        if (out->node_at[n] < 0)
            status = nw_fail(NW_EUNSUPPORTED,
                             "node '%s' is at the switch '(top)', which only "
                             "joins the parts of a file",
                             t->node_name[n]);
    free(number);
    free(used);
    return status;
}

/* --- other networks --- */

/* The connected parts of the network while links are added level by level. */
struct joining {
    const struct nw_network *network;
    /* [switch] parent in the union-find forest of parts */
    int32_t *part;
    /* [part] its first switch of the highest level */
    int32_t *best;
    /* [part] number of its switch in the tree; negative: none yet */
    int32_t *above;
};

/* Returns the number of routers in a group of a dragonfly; for other networks,
 * the number of all switches. */
static int32_t switch_tree_group_size(const struct nw_network *network)
{
    const struct nw_dragonfly *shape;

    if (strcmp(network->ops->name, "dragonfly"))
        return network->switch_count;
    shape = network->ops->shape(network);
    return shape->routers;
}

/* Joins the parts that are connected by links between switches of level `level`
 * or lower, and finds `best` of each part; `above` becomes -1. At level 0, only
 * links inside a group of a dragonfly are used. */
static void join_level(const struct joining *joining, int32_t level)
{
    const struct nw_network *network = joining->network;
    int32_t group =
        level ? network->switch_count : switch_tree_group_size(network);

    for (int32_t l = 0; l < network->link_count; l++) {
        int32_t a = network->link_a[l], b = network->link_b[l];

        if (network->level[a] >= 0 && network->level[a] <= level &&
            network->level[b] >= 0 && network->level[b] <= level &&
            a / group == b / group)
            joining->part[nw_group_root(joining->part, a)] =
                nw_group_root(joining->part, b);
    }
    for (int32_t s = 0; s < network->switch_count; s++)
        joining->best[s] = joining->above[s] = -1;
    for (int32_t s = 0; s < network->switch_count; s++) {
        int32_t *best = &joining->best[nw_group_root(joining->part, s)];

        if (*best < 0 || network->level[s] > network->level[*best])
            *best = s;
    }
}

/* Returns the number of parts that contain the tree's switches from number
 * `first` on. */
static int32_t count_parts(const struct joining *joining,
                           const struct nw_switch_tree *out, int32_t first)
{
    int32_t count = 0;

    for (int32_t i = first; i < out->count; i++) {
        int32_t *above =
            &joining->above[nw_group_root(joining->part, out->origin[i])];

        count += *above == -1;
        *above = -2;
    }
    return count;
}

/* Adds the tree's switch for the part of switch `below`, named after the part's
 * highest switch. If this is the switch `below` itself, the name gets the
 * ending "-up". */
static nw_status switch_tree_add_above(const struct joining *joining,
                                       struct nw_switch_tree *out,
                                       int32_t below)
{
    int32_t best =
        joining->best[nw_group_root(joining->part, out->origin[below])];
    char *name = NULL;
    nw_status status;

    if (best != out->origin[below])
        return tree_add(out, joining->network->switch_name[best], best);
    if (asprintf(&name, "%s-up", out->name[below]) < 0)
        return nw_fail(NW_ENOMEM, "out of memory for the name of a switch");
    status = tree_add(out, name, best);
    free(name);
    return status;
}

/* Adds a level to the tree: one switch for each part that contains switches of
 * the tree from number `first` on, as their parent. */
static nw_status switch_tree_add_level(const struct joining *joining,
                                       struct nw_switch_tree *out,
                                       int32_t first)
{
    int32_t end = out->count;
    nw_status status = NW_OK;

    for (int32_t i = first; !status && i < end; i++) {
        int32_t *above =
            &joining->above[nw_group_root(joining->part, out->origin[i])];

        if (*above < 0) {
            *above = out->count;
            status = switch_tree_add_above(joining, out, i);
        }
        if (!status)
            out->parent[i] = *above;
    }
    return status;
}

/* Adds a switch of the tree for each switch of the network to which the first
 * NIC of a node is connected, and sets the switch of each node. `number` is
 * scratch for all switches of the network. */
static nw_status add_leaves(const nw_topology *t, struct nw_switch_tree *out,
                            int32_t *number)
{
    nw_status status = NW_OK;

    for (int32_t s = 0; s < t->network->switch_count; s++)
        number[s] = -1;
    for (int32_t n = 0; n < t->node_count; n++)
        number[tree_port_of(t, n)] = 0;
    for (int32_t s = 0; !status && s < t->network->switch_count; s++)
        if (number[s] == 0) {
            number[s] = out->count;
            status = tree_add(out, t->network->switch_name[s], s);
        }
    for (int32_t n = 0; !status && n < t->node_count; n++)
        out->node_at[n] = number[tree_port_of(t, n)];
    return status;
}

/* Builds the tree from the leaves up. A level that joins no switches is left
 * out. */
static nw_status join_levels(const nw_topology *t, struct joining *joining,
                             struct nw_switch_tree *out)
{
    const struct nw_network *network = t->network;
    int32_t highest = 1, first = 0;
    nw_status status = add_leaves(t, out, joining->above);

    for (int32_t s = 0; s < network->switch_count; s++) {
        joining->part[s] = s;
        if (network->level[s] > highest)
            highest = network->level[s];
    }
    for (int32_t level = 0; !status && level <= highest; level++) {
        int32_t here = out->count - first;

        join_level(joining, level);
        if (count_parts(joining, out, first) == here)
            continue;
        status = switch_tree_add_level(joining, out, first);
        first += here;
    }
    return status;
}

/* Reports switches and links of the network that the tree does not have. */
static void lose_links(struct nw_export *export,
                       const struct nw_switch_tree *out)
{
    const struct nw_network *network = export->topology->network;
    int32_t links = 0;

    for (int32_t i = 0; i < out->count; i++)
        links += out->parent[i] >= 0;
    if (out->count < network->switch_count)
        nw_export_lose(
            export,
            "all but %d of the %d switch%s, since the network is not a tree",
            out->count, network->switch_count,
            nw_by_count((uint64_t)network->switch_count, "", "es"));
    else if (out->count != network->switch_count ||
             links != network->link_count)
        nw_export_lose(export,
                       "the links between switches, since the network (%s) is "
                       "not a tree",
                       network->ops->name);
}

static nw_status switch_tree_join_switches(struct nw_export *export,
                                           struct nw_switch_tree *out)
{
    const nw_topology *t = export->topology;
    size_t count = (size_t)t->network->switch_count;
    struct joining joining = {.network = t->network};
    nw_status status = nw_alloc(count, sizeof *joining.part, &joining.part);

    if (!status)
        status = nw_alloc(count, sizeof *joining.best, &joining.best);
    if (!status)
        status = nw_alloc(count, sizeof *joining.above, &joining.above);
    if (!status)
        status = join_levels(t, &joining, out);
    if (!status)
        lose_links(export, out);
    free(joining.part);
    free(joining.best);
    free(joining.above);
    return status;
}

nw_status nw_switch_tree_make(struct nw_export *export,
                              struct nw_switch_tree *out)
{
    const nw_topology *t = export->topology;
    nw_status status;

    if (!t->network)
        return nw_fail(NW_EUNSUPPORTED,
                       "'%s' has no network, and the format %s describes "
                       "switches",
                       t->name, export->options->format);
    status =
        nw_alloc((size_t)t->node_count, sizeof *out->node_at, &out->node_at);
    if (status)
        return status;
    status = strcmp(t->network->ops->name, "tree")
                 ? switch_tree_join_switches(export, out)
                 : copy_tree(export, out);
    if (!status)
        status =
            nw_groups_make(out->parent, out->count, out->count, &out->below);
    if (!status)
        status = nw_groups_make(out->node_at, t->node_count, out->count,
                                &out->nodes);
    if (!status)
        lose_ports(export);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the direct links of a node type, such as NVLinks: between pairs of
 * vertices, within groups of vertices, and through GPU switches. */
#include "base/array.h"
#include "base/text.h"
#include "topology/cluster/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The vertices that a list in the file, such as [gpu 0-3], names as ends of
 * direct links. */
struct ends {
    int32_t *vertex;
    size_t count, capacity;
};

/* Parses "gpu 3" or "gpu 0-3" into a kind of vertex and the first and last
 * number. Returns false if the text has another form. */
static bool parse_end(const char *text, char kind[16], int32_t range[2])
{
    char first[16], last[16];
    int length = 0;

    if (sscanf(text, "%15[a-z] %15[0-9]%n", kind, first, &length) != 2 ||
        !nw_parse_i32(first, &range[0]))
        return false;
    range[1] = range[0];
    if (!text[length])
        return true;
    text += length;
    return sscanf(text, "-%15[0-9]%n", last, &length) == 1 && !text[length] &&
           nw_parse_i32(last, &range[1]) && range[1] >= range[0];
}

static nw_status direct_link_add_end(const struct nw_yaml *node,
                                     struct ends *ends, int32_t vertex)
{
    nw_status status;

    for (size_t i = 0; i < ends->count; i++)
        if (ends->vertex[i] == vertex)
            return nw_yaml_fail(node, "'%s' names an end twice", node->text);
    status = nw_grow(&ends->vertex, &ends->capacity, ends->count + 1,
                     sizeof *ends->vertex);
    if (!status)
        ends->vertex[ends->count++] = vertex;
    return status;
}

static nw_status direct_link_read_end(const struct nw_yaml *node,
                                      const struct nw_node_type *type,
                                      struct ends *ends)
{
    static const enum nw_vertex_kind kinds[] = {
        NW_VERTEX_GPU, NW_VERTEX_NIC, NW_VERTEX_PACKAGE, NW_VERTEX_NUMA};
    char kind[16];
    int32_t range[2];
    nw_status status = NW_OK;
    size_t k = 0;

    if (node->kind != NW_YAML_SCALAR || !parse_end(node->text, kind, range))
        return nw_yaml_fail(node, "an end is written as 'gpu 0' or 'gpu 0-3'");
    while (k < sizeof kinds / sizeof *kinds &&
           strcmp(nw_vertex_kind_name(kinds[k]), kind))
        k++;
    if (k == sizeof kinds / sizeof *kinds)
        return nw_yaml_fail(node,
                            "an end is a gpu, nic, package or numa, not "
                            "'%s'",
                            kind);
    for (int32_t i = range[0]; !status && i <= range[1]; i++) {
        int32_t vertex = i < 256 ? nw_node_type_nth(type, kinds[k], i) : -1;

        if (vertex < 0)
            return nw_yaml_fail(node, "unknown %s %d: this node has fewer",
                                kind, i);
        status = direct_link_add_end(node, ends, vertex);
    }
    return status;
}

static nw_status read_ends(const struct nw_yaml *list,
                           const struct nw_node_type *type, struct ends *ends)
{
    nw_status status = nw_yaml_check_list(list, "ends");

    for (const struct nw_yaml *item = list->first; !status && item;
         item = item->next)
        status = direct_link_read_end(item, type, ends);
    return status;
}

static nw_status direct_link_join(const struct nw_yaml *node,
                                  struct nw_node_type *type,
                                  const struct nw_direct_link *link)
{
    if (type->direct_count == NW_CLUSTER_MAX_DIRECT)
        return nw_yaml_fail(node, "more than %d direct links in a node",
                            NW_CLUSTER_MAX_DIRECT);
    for (int32_t d = 0; d < type->direct_count; d++)
        if ((type->direct[d].a == link->a && type->direct[d].b == link->b) ||
            (type->direct[d].a == link->b && type->direct[d].b == link->a))
            return nw_yaml_fail(node, "a direct link is given twice");
    return nw_node_type_add_direct(type, link->a, link->b, link->class);
}

static nw_status read_mesh(const struct nw_yaml *list,
                           struct nw_node_type *type, int32_t class)
{
    struct ends ends = {0};
    nw_status status = read_ends(list, type, &ends);

    if (!status && ends.count < 2)
        status = nw_yaml_fail(list, "a direct link has two ends");
    for (size_t i = 0; !status && i < ends.count; i++)
        for (size_t j = i + 1; !status && j < ends.count; j++)
            status =
                direct_link_join(list, type,
                                 &(struct nw_direct_link){
                                     ends.vertex[i], ends.vertex[j], class});
    free(ends.vertex);
    return status;
}

static nw_status direct_link_read_pairs(const struct nw_yaml *list,
                                        struct nw_node_type *type,
                                        int32_t class)
{
    nw_status status = nw_yaml_check_list(list, "'pairs'");

    for (const struct nw_yaml *pair = list->first; !status && pair;
         pair = pair->next) {
        if (pair->kind != NW_YAML_LIST || pair->count != 2)
            return nw_yaml_fail(pair, "a pair is a list of two ends");
        status = read_mesh(pair, type, class);
    }
    return status;
}

/* Adds `count` GPU switches and links each listed vertex to each of them. A GPU
 * switch is below the node's root, since every vertex needs a parent; the link
 * to that parent carries no messages. */
static nw_status direct_link_read_switch(struct nw_cluster *cluster,
                                         const struct nw_yaml *item,
                                         struct nw_node_type *type,
                                         int32_t class)
{
    const struct nw_yaml *list = nw_yaml_get(item, "switch");
    struct ends ends = {0};
    int32_t count = 1, tree, vertex;
    nw_status status = nw_yaml_count_at(item, "count", 32, &count);

    if (!status)
        status = nw_cluster_figures(cluster, NULL, NW_LINK_PCIE, &tree);
    if (!status)
        status = read_ends(list, type, &ends);
    for (int32_t s = 0; !status && s < count; s++) {
        status = nw_cluster_room(item, type);
        if (!status)
            status =
                nw_node_type_add(type, 0, NW_VERTEX_GPU_SWITCH, tree, &vertex);
        for (size_t i = 0; !status && i < ends.count; i++)
            status = direct_link_join(
                list, type,
                &(struct nw_direct_link){ends.vertex[i], vertex, class});
    }
    free(ends.vertex);
    return status;
}

static nw_status read_item(struct nw_cluster *cluster,
                           const struct nw_yaml *item,
                           struct nw_node_type *type)
{
    const struct nw_yaml *pairs, *mesh, *through;
    int32_t class;
    nw_status status = nw_yaml_check_map(item, "an item of 'direct'",
                                         "pairs mesh switch count link");

    if (status)
        return status;
    pairs = nw_yaml_get(item, "pairs");
    mesh = nw_yaml_get(item, "mesh");
    through = nw_yaml_get(item, "switch");
    if (!!pairs + !!mesh + !!through != 1)
        return nw_yaml_fail(
            item,
            "a direct link needs exactly one of 'pairs', 'mesh' and 'switch'");
    if (!through && nw_yaml_get(item, "count"))
        return nw_yaml_fail(item, "'count' belongs to 'switch'");
    status = nw_cluster_figures(cluster, nw_yaml_get(item, "link"),
                                NW_LINK_NVLINK, &class);
    if (status)
        return status;
    if (through)
        return direct_link_read_switch(cluster, item, type, class);
    return pairs ? direct_link_read_pairs(pairs, type, class)
                 : read_mesh(mesh, type, class);
}

nw_status nw_cluster_direct(struct nw_cluster *cluster,
                            const struct nw_yaml *node,
                            struct nw_node_type *type)
{
    nw_status status = nw_yaml_check_list(node, "'direct'");

    for (const struct nw_yaml *item = node->first; !status && item;
         item = item->next)
        status = read_item(cluster, item, type);
    return status;
}

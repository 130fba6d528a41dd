/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads values that several parts of a cluster file have, such as names and
 * `gpu_messages`, and finds vertices of a node type. */
#include "topology/cluster/cluster.h"
#include <string.h>

nw_status nw_cluster_names(const struct nw_yaml *node,
                           struct nw_hostlist *names)
{
    const char *text;
    nw_status status = nw_yaml_text(node, &text);

    if (status)
        return status;
    return nw_yaml_place(node, nw_hostlist_expand(text, names));
}

nw_status nw_cluster_messages(const struct nw_yaml *node,
                              struct nw_cluster_messages *messages)
{
    const char *text;
    nw_status status = nw_yaml_text(node, &text);

    if (status)
        return status;
    if (strcmp(text, "direct") && strcmp(text, "staged") && strcmp(text, "pxn"))
        return nw_yaml_fail(
            node, "'gpu_messages' must be direct, staged or pxn, not '%s'",
            text);
    messages->staged = !strcmp(text, "staged");
    messages->pxn = !strcmp(text, "pxn");
    return NW_OK;
}

nw_status nw_cluster_room(const struct nw_yaml *node,
                          const struct nw_node_type *type)
{
    if (type->vertex_count < NW_CLUSTER_MAX_PARTS)
        return NW_OK;
    return nw_yaml_fail(node, "a node has more than %d parts",
                        NW_CLUSTER_MAX_PARTS);
}

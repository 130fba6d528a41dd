/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the names of nodes, and resizes them if the user asks for a bundled
 * cluster with another number of nodes. */
#include "base/array.h"
#include "topology/cluster/cluster.h"
#include <stdlib.h>
#include <string.h>

/* For a source NAME:N, changes the end of the first bracket range of a name so
 * that the range has N names: n[1-4] becomes n[1-N]. */
static nw_status node_names_resize(const struct nw_cluster *cluster,
                                   const struct nw_yaml *name, char **out)
{
    const char *open = strchr(name->text, '['), *dash, *close;
    struct nw_text text = {0};
    char *first;
    size_t width;
    int32_t low;
    bool good;

    dash = open ? strchr(open, '-') : NULL;
    close = dash ? strchr(dash, ']') : NULL;
    if (!close)
        return nw_yaml_fail(name, "only a range can be resized");
    width = (size_t)(dash - open) - 1;
    first = strndup(open + 1, width);
    good = first && nw_parse_i32(first, &low);
    free(first);
    if (!good)
        return nw_yaml_fail(name, "only a plain range can be resized");
    nw_text_add_bytes(&text, name->text, (size_t)(dash - name->text) + 1);
    nw_text_format(&text, "%0*d%s", (int)width, low + cluster->resize - 1,
                   close);
    return nw_text_take(&text, out);
}

nw_status nw_cluster_resized_names(const struct nw_cluster *cluster,
                                   const struct nw_yaml *name,
                                   struct nw_hostlist *names)
{
    char *resized;
    nw_status status;

    if (!cluster->resize)
        return nw_cluster_names(name, names);
    status = node_names_resize(cluster, name, &resized);
    if (status)
        return status;
    status = nw_yaml_place(name, nw_hostlist_expand(resized, names));
    free(resized);
    return status;
}

nw_status nw_cluster_node_names(struct nw_cluster *cluster,
                                const struct nw_yaml *nodes)
{
    nw_status status = nw_yaml_check_list(nodes, "'nodes'");
    size_t i = 0;

    if (!status && cluster->resize && nodes->count != 1)
        status = nw_yaml_fail(nodes, "only one range of nodes can be resized");
    if (!status)
        status = nw_alloc(nodes->count, sizeof *cluster->entry_end,
                          &cluster->entry_end);
    for (const struct nw_yaml *item = nodes->first; !status && item;
         item = item->next) {
        const struct nw_yaml *name;
        const char *text;

        status = nw_yaml_check_map(item, "an item of 'nodes'",
                                   "name type switch port ports domain");
        if (!status)
            status = nw_yaml_need(item, "name", &name);
        if (!status)
            status = nw_yaml_text(name, &text);
        if (!status)
            status = nw_cluster_resized_names(cluster, name, &cluster->names);
        cluster->entry_end[i++] = (int32_t)cluster->names.count;
    }
    return status;
}

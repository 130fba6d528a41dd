/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a cluster file section by section and returns the topology. */
#include "topology/cluster/cluster.h"
#include "base/array.h"
#include "base/file.h"
#include "base/status.h"
#include "topology/source.h"

#include <stdlib.h>
#include <string.h>

static nw_status cluster_check_version(const struct nw_yaml *root)
{
    const struct nw_yaml *version;
    const char *text = "";
    nw_status status = NW_OK;

    if (root->kind != NW_YAML_MAP)
        return nw_yaml_fail(root, "a cluster file is a mapping that has "
                                  "'nodewise: cluster 1'");
    version = nw_yaml_get(root, "nodewise");
    if (!version)
        return nw_yaml_fail(root, "no 'nodewise: cluster 1': not a cluster "
                                  "file");
    status = nw_yaml_text(version, &text);
    if (!status && strcmp(text, "cluster 1"))
        status = nw_yaml_fail(
            version, "'nodewise' is '%s'; this reads 'cluster 1'", text);
    if (status)
        return status;
    return nw_yaml_check_map(root, "a cluster",
                             "nodewise name gpu_messages node_types nodes "
                             "domains network");
}

static nw_status read_types(struct nw_cluster *cluster)
{
    const struct nw_yaml *types;
    nw_status status = nw_yaml_need(cluster->root, "node_types", &types);

    if (status)
        return status;
    if (types->kind != NW_YAML_MAP || !types->count)
        return nw_yaml_fail(types, "'node_types' must be a mapping of a name "
                                   "to a node type");
    status = nw_alloc(types->count, sizeof *cluster->type, &cluster->type);
    for (const struct nw_yaml *t = types->first; !status && t; t = t->next)
        status = nw_cluster_type(cluster, t);
    return status;
}

static nw_status cluster_read_header(struct nw_cluster *cluster)
{
    const struct nw_yaml *name = nw_yaml_get(cluster->root, "name");
    const struct nw_yaml *messages = nw_yaml_get(cluster->root, "gpu_messages");
    const char *text = cluster->file;
    nw_status status = NW_OK;

    if (name)
        status = nw_yaml_text(name, &text);
    if (!status && messages)
        status = nw_cluster_messages(messages, &cluster->messages);
    if (!status)
        status = nw_topology_new(text, &cluster->topology);
    if (!status)
        cluster->topology->elements = cluster->elements;
    return status;
}

/* Returns an item of `nodes` that repeats the name of a node, or the whole list
 * `nodes` if all names differ. The item gives the line for an error message. */
static const struct nw_yaml *item_to_blame(const struct nw_cluster *cluster,
                                           const struct nw_yaml *nodes)
{
    const nw_topology *t = cluster->topology;
    const struct nw_yaml *item = nodes->first;
    int32_t again = -1;

    for (int32_t i = 1; t->by_name && i < t->node_count; i++) {
        int32_t a = t->by_name[i - 1], b = t->by_name[i];

        if (!strcmp(t->node_name[a], t->node_name[b]))
            again = a > b ? a : b;
    }
    if (again < 0)
        return nodes;
    for (size_t i = 0; again >= cluster->entry_end[i]; i++)
        item = item->next;
    return item;
}

/* Reads the forwarding tables, if there are any. They name nodes, so the nodes
 * must have been read. */
static nw_status read_tables(struct nw_cluster *cluster,
                             const struct nw_yaml *network)
{
    const struct nw_yaml *graph =
        network ? nw_yaml_get(network, "graph") : NULL;
    const struct nw_yaml *tables = graph ? nw_yaml_get(graph, "tables") : NULL;

    return tables ? nw_cluster_tables(cluster, tables) : NW_OK;
}

static nw_status cluster_read_all(struct nw_cluster *cluster)
{
    const struct nw_yaml *network = nw_yaml_get(cluster->root, "network");
    const struct nw_yaml *domains = nw_yaml_get(cluster->root, "domains");
    const struct nw_yaml *nodes;
    nw_status status = cluster_check_version(cluster->root);

    if (!status)
        status = cluster_read_header(cluster);
    if (!status)
        status = read_types(cluster);
    if (!status)
        status = nw_yaml_need(cluster->root, "nodes", &nodes);
    if (!status)
        status = nw_cluster_node_names(cluster, nodes);
    if (!status && network)
        status = nw_cluster_network(cluster, network);
    if (!status)
        status = nw_cluster_place_nodes(cluster, nodes);
    if (!status && domains)
        status = nw_cluster_join_upper(cluster, domains);
    if (!status)
        status = read_tables(cluster, network);
    if (status)
        return status;
    status = nw_topology_finish(cluster->topology, cluster->elements);
    return status ? nw_yaml_place(item_to_blame(cluster, nodes), status)
                  : NW_OK;
}

static void cluster_fini(struct nw_cluster *cluster)
{
    for (size_t i = 0; i < cluster->type_count; i++)
        free(cluster->type[i].port);
    free(cluster->type);
    free(cluster->entry_end);
    free(cluster->switch_order);
    nw_hostlist_fini(&cluster->names);
    nw_hostlist_fini(&cluster->domains);
    nw_topology_free(cluster->topology);
}

nw_status nw_cluster_read(const struct nw_cluster_text *text, nw_topology **out)
{
    struct nw_cluster cluster = {
        .file = text->file, .elements = text->elements, .resize = text->resize};
    struct nw_yaml *root;
    nw_status status =
        nw_yaml_parse(text->file, text->text, text->length, &root);

    if (status)
        return status;
    cluster.root = root;
    status = cluster_read_all(&cluster);
    if (!status) {
        *out = cluster.topology;
        cluster.topology = NULL;
    }
    cluster_fini(&cluster);
    nw_yaml_free(root);
    return status;
}

nw_status nw_source_cluster(const char *what, enum nw_elements elements,
                            nw_topology **out)
{
    struct nw_cluster_text text = {.file = what, .elements = elements};
    char *data;
    nw_status status = nw_file_read_text(what, &data, &text.length);

    if (status)
        return status;
    text.text = data;
    status = nw_cluster_read(&text, out);
    free(data);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a node type: first its processors, from hwloc, the short form or
 * 'parts', then its devices, direct links and names. Other files of this folder
 * read all but hwloc and the short form. */
#include "base/array.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/cluster/cluster.h"
#include "topology/hwloc/node.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *key;
    enum nw_vertex_kind vertex;
    enum nw_link_kind link;
} levels[] = {
    {"packages", NW_VERTEX_PACKAGE, NW_LINK_SOCKET},
    {"numa", NW_VERTEX_NUMA, NW_LINK_MEMORY},
    {"l3", NW_VERTEX_L3, NW_LINK_CACHE},
    {"l2", NW_VERTEX_L2, NW_LINK_CACHE},
    {"cores", NW_VERTEX_CORE, NW_LINK_CORE},
    {"pus", NW_VERTEX_PU, NW_LINK_CORE},
};
#define LEVEL_COUNT ((int)(sizeof levels / sizeof *levels))

/* The form `cpu` with numbers of packages, cores and so on. */
struct short_form {
    struct nw_cluster *cluster;
    struct nw_node_type *type;
    /* children of this level in each vertex of the level above; 0: the level is
     * missing */
    int32_t count[LEVEL_COUNT];
};

static nw_status node_type_add_levels(const struct short_form *form,
                                      int32_t parent, int level)
{
    nw_status status = NW_OK;
    int32_t class, vertex;

    while (level < LEVEL_COUNT && !form->count[level])
        level++;
    if (level == LEVEL_COUNT)
        return NW_OK;
    status =
        nw_cluster_figures(form->cluster, NULL, levels[level].link, &class);
    for (int32_t i = 0; !status && i < form->count[level]; i++) {
        status = nw_node_type_add(form->type, parent, levels[level].vertex,
                                  class, &vertex);
        if (!status)
            status = node_type_add_levels(form, vertex, level + 1);
    }
    return status;
}

static nw_status read_short(struct short_form *form, const struct nw_yaml *node)
{
    const struct nw_yaml *cores;
    nw_status status =
        nw_yaml_check_map(node, "'cpu'", "packages numa l3 l2 cores pus links");
    int64_t product = 1, total = 0;

    if (!status)
        status = nw_yaml_need(node, "cores", &cores);
    form->count[0] = 1;
    for (int l = 0; !status && l < LEVEL_COUNT; l++)
        status = nw_yaml_count_at(node, levels[l].key, NW_CLUSTER_MAX_PARTS,
                                  &form->count[l]);
    if (form->cluster->elements == NW_ELEMENTS_CORE)
        form->count[LEVEL_COUNT - 1] = 0;
    for (int l = 0; !status && l < LEVEL_COUNT; l++) {
        product *= form->count[l] ? form->count[l] : 1;
        total += form->count[l] ? product : 0;
        if (total >= NW_CLUSTER_MAX_PARTS)
            return nw_yaml_fail(node, "a node has more than %d parts",
                                NW_CLUSTER_MAX_PARTS);
    }
    return status ? status : node_type_add_levels(form, 0, 0);
}

/* Joins the path `xml` to the folder of the cluster file, unless `xml` is
 * absolute. The caller frees *out. */
static nw_status xml_path(const char *file, const char *xml, char **out)
{
    const char *slash = strrchr(file, '/');
    struct nw_text text = {0};

    if (*xml != '/' && slash)
        nw_text_add_bytes(&text, file, (size_t)(slash - file) + 1);
    nw_text_add(&text, xml);
    return nw_text_take(&text, out);
}

static nw_status read_xml(struct nw_cluster *cluster,
                          const struct nw_yaml *node, const char *name,
                          struct nw_node_type **out)
{
    const char *text;
    char *path;
    nw_status status = nw_yaml_text(node, &text);

    if (!status)
        status = xml_path(cluster->file, text, &path);
    if (status)
        return status;
    status = nw_file_check_regular(path);
    if (!status)
        status = nw_hwloc_node_type(cluster->topology, name, NW_HWLOC_XML, path,
                                    out);
    free(path);
    return nw_yaml_place(node, status);
}

static nw_status read_synthetic(struct nw_cluster *cluster,
                                const struct nw_yaml *node, const char *name,
                                struct nw_node_type **out)
{
    const char *text;
    nw_status status = nw_yaml_text(node, &text);

    if (status)
        return status;
    return nw_yaml_place(node,
                         nw_hwloc_node_type(cluster->topology, name,
                                            NW_HWLOC_SYNTHETIC, text, out));
}

/* Reads 'links': the bandwidth and latency for each kind of link between
 * processor vertices, and applies them to all links of that kind. */
static nw_status node_type_read_links(struct nw_cluster *cluster,
                                      const struct nw_yaml *node,
                                      struct nw_node_type *type)
{
    nw_status status =
        nw_yaml_check_map(node, "'links'", "core cache memory socket");

    for (int k = NW_LINK_CORE; !status && k <= NW_LINK_SOCKET; k++) {
        const struct nw_yaml *figures =
            nw_yaml_get(node, nw_link_kind_name((enum nw_link_kind)k));
        int32_t class;

        if (!figures)
            continue;
        status =
            nw_cluster_figures(cluster, figures, (enum nw_link_kind)k, &class);
        for (int32_t v = 1; !status && v < type->vertex_count; v++)
            if (cluster->topology->class[type->class[v]].kind == k)
                type->class[v] = class;
    }
    return status;
}

static nw_status read_cpu(struct nw_cluster *cluster,
                          const struct nw_yaml *node, const char *name,
                          struct nw_node_type **out)
{
    const struct nw_yaml *xml, *synthetic, *links;
    struct short_form form = {.cluster = cluster};
    nw_status status;

    if (node->kind != NW_YAML_MAP)
        return nw_yaml_fail(node, "'cpu' must be a mapping");
    xml = nw_yaml_get(node, "xml");
    synthetic = nw_yaml_get(node, "synthetic");
    links = nw_yaml_get(node, "links");
    if (xml || synthetic) {
        status = nw_yaml_check_map(node, "'cpu' by hwloc",
                                   xml ? "xml links" : "synthetic links");
        if (!status)
            status = xml ? read_xml(cluster, xml, name, out)
                         : read_synthetic(cluster, synthetic, name, out);
    } else {
        status = nw_node_type_new(cluster->topology, name, &form.type);
        if (!status)
            status = read_short(&form, node);
        *out = form.type;
    }
    if (!status && links)
        status = node_type_read_links(cluster, links, *out);
    return status;
}

/* Adds a port with class -1 (not given) for each NIC that hwloc or 'parts' has
 * added, since neither gives the bandwidth of ports. */
static nw_status count_ports(struct nw_cluster_type *type)
{
    nw_status status = NW_OK;

    for (int32_t v = 0; !status && v < type->type->vertex_count; v++)
        if (type->type->kind[v] == NW_VERTEX_NIC) {
            status = nw_grow(&type->port, &type->port_capacity,
                             type->port_count + 1, sizeof *type->port);
            if (!status)
                type->port[type->port_count++] = -1;
        }
    return status;
}

/* Reads the vertices of a node type, either from 'cpu' or from 'parts'. With
 * 'cpu', the caller adds the devices afterwards. */
static nw_status read_inside(struct nw_cluster *cluster,
                             const struct nw_yaml *node,
                             struct nw_node_type **out)
{
    const struct nw_yaml *cpu = nw_yaml_get(node, "cpu");
    const struct nw_yaml *parts = nw_yaml_get(node, "parts");
    const struct nw_yaml *threads = nw_yaml_get(node, "threads");
    nw_status status;

    if (parts && cpu)
        return nw_yaml_fail(parts, "'cpu' and 'parts' exclude each other");
    if (parts && nw_yaml_get(node, "devices"))
        return nw_yaml_fail(parts, "'devices' and 'parts' exclude each other");
    if (parts)
        return nw_cluster_parts(cluster, node, node->key, out);
    if (threads)
        return nw_yaml_fail(threads, "'threads' belongs to 'parts'");
    status = nw_yaml_need(node, "cpu", &cpu);
    return status ? status : read_cpu(cluster, cpu, node->key, out);
}

static nw_status read_info(const struct nw_yaml *node,
                           struct nw_node_type *type)
{
    const struct nw_yaml *gpus = nw_yaml_get(node, "gpus");
    const struct nw_yaml *nics = nw_yaml_get(node, "nics");
    struct nw_cluster_info gpu = {&type->gpu_device, &type->gpu_count};
    struct nw_cluster_info nic = {&type->nic_device, &type->nic_count};
    nw_status status = NW_OK;

    if (gpus)
        status = nw_cluster_device_info(gpus, type, NW_VERTEX_GPU, &gpu);
    if (!status && nics)
        status = nw_cluster_device_info(nics, type, NW_VERTEX_NIC, &nic);
    return status;
}

nw_status nw_cluster_type(struct nw_cluster *cluster,
                          const struct nw_yaml *node)
{
    struct nw_cluster_type *type = &cluster->type[cluster->type_count++];
    const struct nw_yaml *messages, *devices, *direct, *names;
    struct nw_cluster_messages how = cluster->messages;
    nw_status status = nw_yaml_check_map(node, "a node type",
                                         "cpu parts threads gpu_messages "
                                         "devices direct nic_names gpus nics");

    if (!status)
        status = read_inside(cluster, node, &type->type);
    if (status)
        return status;
    messages = nw_yaml_get(node, "gpu_messages");
    devices = nw_yaml_get(node, "devices");
    direct = nw_yaml_get(node, "direct");
    names = nw_yaml_get(node, "nic_names");
    status = count_ports(type);
    if (!status && messages)
        status = nw_cluster_messages(messages, &how);
    type->type->staged = how.staged;
    type->type->pxn = how.pxn;
    if (!status && devices)
        status = nw_cluster_devices(cluster, devices, type);
    if (!status && names)
        status = nw_cluster_name_cards(names, type->type);
    if (!status)
        status = read_info(node, type->type);
    if (!status && direct)
        status = nw_cluster_direct(cluster, direct, type->type);
    return status;
}

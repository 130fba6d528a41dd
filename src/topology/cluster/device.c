/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads 'devices' of a node type: PCIe switches, boards, GPUs and NICs below a
 * package, a NUMA node or the node itself. Reads 'nic_names', too. */
#include "base/array.h"
#include "base/status.h"
#include "topology/cluster/cluster.h"

#include <stdlib.h>
#include <string.h>

#define PART_KEYS "pcie-switch board gpu nic link parts port model"

/* The node type to which devices are added. */
struct site {
    struct nw_cluster *cluster;
    struct nw_cluster_type *type;
};

/* Stores the name of device number `index`. Devices with lower numbers that
 * have no name keep an unknown name. */
static nw_status name_device(struct nw_device **devices, int32_t *count,
                             int32_t index, const char *name)
{
    struct nw_device *longer;

    if (index >= *count) {
        longer = realloc(*devices, ((size_t)index + 1) * sizeof *longer);
        if (!longer)
            return nw_fail(NW_ENOMEM, "out of memory for device names");
        memset(longer + *count, 0,
               (size_t)(index + 1 - *count) * sizeof *longer);
        *devices = longer;
        *count = index + 1;
    }
    free((*devices)[index].name);
    (*devices)[index].name = NULL;
    return nw_strdup(name, &(*devices)[index].name);
}

static nw_status finish_gpu(const struct site *site, const struct nw_yaml *part)
{
    struct nw_node_type *type = site->type->type;
    const struct nw_yaml *model = nw_yaml_get(part, "model");
    int32_t count = nw_node_type_count(type, NW_VERTEX_GPU);
    const char *text;
    nw_status status;

    if (count > NW_CLUSTER_MAX_CARDS)
        return nw_yaml_fail(part, "more than %d GPUs in a node",
                            NW_CLUSTER_MAX_CARDS);
    if (!model)
        return NW_OK;
    status = nw_yaml_text(model, &text);
    if (status)
        return status;
    return name_device(&type->gpu_device, &type->gpu_count, count - 1, text);
}

static nw_status finish_nic(const struct site *site, const struct nw_yaml *part)
{
    struct nw_cluster_type *type = site->type;
    const struct nw_yaml *port = nw_yaml_get(part, "port");
    int32_t class = -1;
    nw_status status;

    if (type->port_count == NW_CLUSTER_MAX_CARDS)
        return nw_yaml_fail(part, "more than %d network cards in a node",
                            NW_CLUSTER_MAX_CARDS);
    status = nw_grow(&type->port, &type->port_capacity, type->port_count + 1,
                     sizeof *type->port);
    if (!status && port)
        status = nw_cluster_figures(site->cluster, port, NW_LINK_NIC, &class);
    if (!status)
        type->port[type->port_count++] = class;
    return status;
}

/* Finds the key of a part that names its kind, and the number of equal parts
 * that this key gives. Fails if a part has no such key or several, or has a key
 * that does not suit its kind. */
static nw_status part_kind(const struct nw_yaml *part,
                           enum nw_vertex_kind *kind, int32_t *count)
{
    static const enum nw_vertex_kind kinds[] = {
        NW_VERTEX_BRIDGE, NW_VERTEX_BOARD, NW_VERTEX_GPU, NW_VERTEX_NIC};
    const struct nw_yaml *found = NULL;
    nw_status status = nw_yaml_check_map(part, "a part", PART_KEYS);

    for (size_t i = 0; !status && i < sizeof kinds / sizeof *kinds; i++) {
        const struct nw_yaml *is =
            nw_yaml_get(part, nw_vertex_kind_name(kinds[i]));

        if (is && found)
            return nw_yaml_fail(is,
                                "a part has one kind, not both '%s' and '%s'",
                                found->key, is->key);
        if (is)
            *kind = kinds[i];
        found = is ? is : found;
    }
    if (status)
        return status;
    if (!found)
        return nw_yaml_fail(part, "a part must be a 'pcie-switch', 'board', "
                                  "'gpu' or 'nic'");
    status = nw_yaml_count(found, 1, 1024, count);
    if (!status && *kind != NW_VERTEX_NIC && nw_yaml_get(part, "port"))
        status = nw_yaml_fail(part, "only a 'nic' has a 'port'");
    if (!status && *kind != NW_VERTEX_GPU && nw_yaml_get(part, "model"))
        status = nw_yaml_fail(part, "only a 'gpu' has a 'model'");
    if (!status && (*kind == NW_VERTEX_GPU || *kind == NW_VERTEX_NIC) &&
        nw_yaml_get(part, "parts"))
        status = nw_yaml_fail(part, "nothing hangs below a '%s'", found->key);
    return status;
}

static nw_status device_add_parts(const struct site *site,
                                  const struct nw_yaml *list, int32_t parent);

static nw_status device_add_part(const struct site *site,
                                 const struct nw_yaml *part, int32_t parent)
{
    const struct nw_yaml *below = nw_yaml_get(part, "parts");
    enum nw_vertex_kind kind = NW_VERTEX_GPU;
    int32_t count = 0, class, vertex;
    nw_status status = part_kind(part, &kind, &count);

    if (!status)
        status = nw_cluster_figures(site->cluster, nw_yaml_get(part, "link"),
                                    NW_LINK_PCIE, &class);
    for (int32_t i = 0; !status && i < count; i++) {
        status = nw_cluster_room(part, site->type->type);
        if (!status)
            status = nw_node_type_add(site->type->type, parent, kind, class,
                                      &vertex);
        if (!status && kind == NW_VERTEX_GPU)
            status = finish_gpu(site, part);
        if (!status && kind == NW_VERTEX_NIC)
            status = finish_nic(site, part);
        if (!status && below)
            status = device_add_parts(site, below, vertex);
    }
    return status;
}

static nw_status device_add_parts(const struct site *site,
                                  const struct nw_yaml *list, int32_t parent)
{
    nw_status status = nw_yaml_check_list(list, "'parts'");

    for (const struct nw_yaml *part = list->first; !status && part;
         part = part->next)
        status = device_add_part(site, part, parent);
    return status;
}

static nw_status device_add_below(const struct site *site,
                                  const struct nw_yaml *where,
                                  const struct nw_yaml *parts)
{
    enum nw_vertex_kind kind = strcmp(where->key ? where->key : "", "numa")
                                   ? NW_VERTEX_PACKAGE
                                   : NW_VERTEX_NUMA;
    const struct nw_yaml *item = where;
    bool list = where->kind == NW_YAML_LIST;
    nw_status status = NW_OK;

    if (list)
        status = nw_yaml_check_list(where, "a list of numbers");
    for (item = list ? where->first : where; !status && item;
         item = list ? item->next : NULL) {
        int32_t index = 0, vertex = -1;

        status = nw_yaml_count(item, 0, NW_CLUSTER_MAX_PARTS, &index);
        if (!status)
            vertex = nw_node_type_nth(site->type->type, kind, index);
        if (!status && vertex < 0)
            status = nw_yaml_fail(item, "unknown %s %d: this node has fewer",
                                  nw_vertex_kind_name(kind), index);
        if (!status)
            status = device_add_parts(site, parts, vertex);
    }
    return status;
}

nw_status nw_cluster_devices(struct nw_cluster *cluster,
                             const struct nw_yaml *node,
                             struct nw_cluster_type *type)
{
    const struct site site = {cluster, type};
    nw_status status = nw_yaml_check_list(node, "'devices'");

    for (const struct nw_yaml *item = node->first; !status && item;
         item = item->next) {
        const struct nw_yaml *package, *numa, *parts;

        status = nw_yaml_check_map(item, "an item of 'devices'",
                                   "package numa parts");
        if (!status)
            status = nw_yaml_need(item, "parts", &parts);
        if (status)
            break;
        package = nw_yaml_get(item, "package");
        numa = nw_yaml_get(item, "numa");
        if (package && numa)
            status =
                nw_yaml_fail(item, "'package' and 'numa' exclude each other");
        else if (package || numa)
            status = device_add_below(&site, package ? package : numa, parts);
        else
            status = device_add_parts(&site, parts, 0);
    }
    return status;
}

nw_status nw_cluster_name_cards(const struct nw_yaml *node,
                                struct nw_node_type *type)
{
    struct nw_hostlist names = {0};
    int32_t count = nw_node_type_count(type, NW_VERTEX_NIC);
    nw_status status = nw_cluster_names(node, &names);

    if (!status && names.count != (size_t)count)
        status = nw_yaml_fail(
            node,
            "'nic_names' has %zu name%s, but the node has %d network card%s",
            names.count, nw_plural(names.count), count,
            nw_plural((uint64_t)count));
    for (int32_t i = 0; !status && i < count; i++)
        status =
            name_device(&type->nic_device, &type->nic_count, i, names.name[i]);
    nw_hostlist_fini(&names);
    return status;
}

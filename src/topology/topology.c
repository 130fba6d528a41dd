/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds the arrays of a topology, and numbers its elements, GPUs and links. */
#include "topology/topology.h"
#include "base/array.h"
#include "base/c_locale.h"
#include "base/name_index.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

nw_status nw_topology_new(const char *name, nw_topology **out)
{
    nw_topology *topology;
    nw_status status = nw_alloc(1, sizeof *topology, &topology);

    if (status)
        return status;
    status = nw_strdup(name, &topology->name);
    if (status) {
        free(topology);
        return status;
    }
    *out = topology;
    return NW_OK;
}

static void free_devices(struct nw_device *devices, int32_t count)
{
    for (int32_t i = 0; devices && i < count; i++) {
        free(devices[i].name);
        free(devices[i].uuid);
        free(devices[i].pci);
    }
    free(devices);
}

static void free_type(struct nw_node_type *type)
{
    free(type->name);
    free(type->parent);
    free(type->kind);
    free(type->class);
    free(type->index);
    free(type->direct);
    free(type->depth);
    free(type->core);
    free(type->gpu);
    free(type->nic);
    free(type->package);
    free(type->pu);
    free(type->nearest_nic);
    free(type->end_of);
    free(type->next);
    free_devices(type->gpu_device, type->gpu_count);
    free_devices(type->nic_device, type->nic_count);
    free(type->core_os);
    free(type->core_pu);
    free(type->pu_os);
    free(type);
}

void nw_topology_drop_last_type(nw_topology *topology)
{
    free_type(topology->type[--topology->type_count]);
}

void nw_topology_free(nw_topology *topology)
{
    if (!topology)
        return;
    for (int32_t t = 0; t < topology->type_count; t++)
        free_type(topology->type[t]);
    for (int32_t n = 0; topology->node_name && n < topology->node_count; n++)
        free(topology->node_name[n]);
    for (int32_t l = 0; topology->level_name && l < topology->level_count; l++)
        free(topology->level_name[l]);
    for (int32_t d = 0; d < topology->domain_count; d++)
        free(topology->domain_name[d]);
    for (int32_t u = 0; u < topology->upper_count; u++)
        free(topology->upper_name[u]);
    nw_network_free(topology->network);
    free(topology->domain);
    free(topology->domain_name);
    free(topology->upper);
    free(topology->uplink_class);
    free(topology->upper_name);
    free(topology->name);
    free(topology->class);
    free(topology->type);
    free(topology->node_name);
    free(topology->node_type);
    free(topology->port_first);
    free(topology->port);
    free(topology->port_class);
    free(topology->element_first);
    free(topology->gpu_first);
    free(topology->link_first);
    free(topology->by_name);
    nw_text_fini(&topology->notes);
    free(topology->depth_distance);
    free(topology->matrix);
    free(topology->level_name);
    free(topology);
}

void nw_topology_take_network(nw_topology *topology, struct nw_network *network)
{
    nw_network_free(topology->network);
    topology->network = network;
}

nw_status nw_topology_set_nodes(nw_topology *topology, int32_t node_count,
                                int32_t port_count)
{
    size_t n = (size_t)node_count;
    nw_status status =
        nw_alloc(n, sizeof *topology->node_name, &topology->node_name);

    topology->node_count = node_count;
    if (!status)
        status = nw_alloc(n, sizeof *topology->node_type, &topology->node_type);
    if (!status)
        status = nw_alloc(n + 1, sizeof *topology->port_first,
                          &topology->port_first);
    if (!status)
        status = nw_alloc((size_t)port_count, sizeof *topology->port,
                          &topology->port);
    if (!status)
        status = nw_alloc((size_t)port_count, sizeof *topology->port_class,
                          &topology->port_class);
    return status;
}

static nw_status topology_index_names(nw_topology *topology)
{
    struct nw_names names = {topology->node_name, sizeof *topology->node_name,
                             0, (size_t)topology->node_count};
    nw_status status = nw_names_sort(names, &topology->by_name);
    size_t again = status ? 0 : nw_names_repeated(names, topology->by_name);

    return again ? nw_fail(NW_EFORMAT, "two nodes of %s are named '%s'",
                           topology->name,
                           topology->node_name[topology->by_name[again]])
                 : status;
}

/* Returns how many link numbers a node of this type has; see topology.h for
 * their order. */
static int64_t links_of(const struct nw_node_type *type)
{
    return (int64_t)type->vertex_count + type->direct_count + type->nic_count;
}

static nw_status number_parts(nw_topology *topology)
{
    int32_t n = topology->node_count;
    int64_t element = 0, gpu = 0;
    int64_t link = topology->network ? topology->network->link_count : 0;

    for (int32_t i = 0; i <= n; i++) {
        const struct nw_node_type *type;

        topology->element_first[i] = (int32_t)element;
        topology->gpu_first[i] = (int32_t)gpu;
        topology->link_first[i] = (int32_t)link;
        if (i < n) {
            type = nw_topology_type_of(topology, i);
            element += type->element_count;
            gpu += type->gpu_count;
            link += links_of(type);
        } else {
            link += topology->upper ? topology->domain_count : 0;
        }
        if (link > INT32_MAX / 2)
            return nw_fail(NW_EFORMAT, "%s: more than 2^30 links",
                           topology->name);
    }
    topology->link_count = (int32_t)link;
    if (!element)
        return nw_fail(NW_EFORMAT, "%s: the machine has no cores",
                       topology->name);
    return NW_OK;
}

/* Returns an upper bound of the number of links of a route, or of the routes of
 * all parts of a message. */
static size_t longest_route(const nw_topology *topology)
{
    size_t deepest = 0, switches = 0, stripes = 1;

    for (int32_t t = 0; t < topology->type_count; t++) {
        const struct nw_node_type *type = topology->type[t];

        if ((size_t)type->stripe_count > stripes)
            stripes = (size_t)type->stripe_count;
        for (int32_t v = 0; v < type->vertex_count; v++) {
            if (type->depth[v] > deepest)
                deepest = type->depth[v];
            switches += type->kind[v] == NW_VERTEX_GPU_SWITCH;
        }
    }
    /* at each end of the route: to the GPU's host memory, to the NIC, to the
     * switch */
    return stripes *
           (2 * (3 * deepest + 1) + switches +
            (size_t)(topology->network ? topology->network->diameter : 0) + 2);
}

static nw_status topology_add_level(nw_topology *topology, char *name)
{
    if (!name)
        return nw_fail(NW_ENOMEM, "out of memory for level names");
    topology->level_name[topology->level_count++] = name;
    return NW_OK;
}

static char *level_text(const nw_topology *topology, int32_t level)
{
    char text[64];
    int32_t switches = level - nw_domain_last_level(topology);

    if (level == 0)
        snprintf(text, sizeof text, "same");
    else if (topology->depth_distance)
        nw_snprintf(text, sizeof text, "distance %g",
                    topology->depth_distance[topology->depth_count - level]);
    else if (topology->matrix)
        snprintf(text, sizeof text, "any");
    else if (level <= NW_VERTEX_KIND_COUNT)
        snprintf(text, sizeof text, "%s",
                 nw_vertex_kind_name(NW_VERTEX_KIND_COUNT - level));
    else if (level == NW_VERTEX_KIND_COUNT + 1)
        snprintf(text, sizeof text, "direct link");
    else if (switches == 0)
        snprintf(text, sizeof text, "second NVLink level");
    else
        snprintf(text, sizeof text, "%d switch%s", switches,
                 nw_by_count((uint64_t)switches, "", "es"));
    return strdup(text);
}

static nw_status name_levels(nw_topology *topology)
{
    int32_t count = nw_domain_last_level(topology) + 1;
    nw_status status;

    if (topology->network)
        count += topology->network->diameter + 1;
    if (topology->depth_distance)
        count = topology->depth_count + 1;
    if (topology->matrix)
        count = 2;
    status = nw_alloc((size_t)count, sizeof *topology->level_name,
                      &topology->level_name);
    for (int32_t l = 0; !status && l < count; l++)
        status = topology_add_level(topology, level_text(topology, l));
    return status;
}

static bool all_whole(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] > 0x1p53 || values[i] != (double)(int64_t)values[i])
            return false;
    return true;
}

nw_status nw_topology_finish(nw_topology *topology, enum nw_elements elements)
{
    size_t n = (size_t)topology->node_count + 1;
    nw_status status = NW_OK;

    topology->elements = elements;
    status = nw_topology_raise_cards(topology);
    for (int32_t t = 0; !status && t < topology->type_count; t++)
        status = nw_node_type_merge_switches(topology, topology->type[t]);
    if (!status && !topology->matrix && !topology->depth_distance)
        status = nw_topology_order_classes(topology);
    for (int32_t t = 0; !status && t < topology->type_count; t++)
        status = nw_node_type_finish(topology->type[t], elements);
    if (!status)
        status = nw_alloc(n, sizeof *topology->element_first,
                          &topology->element_first);
    if (!status)
        status = nw_alloc(n, sizeof *topology->gpu_first, &topology->gpu_first);
    if (!status)
        status =
            nw_alloc(n, sizeof *topology->link_first, &topology->link_first);
    if (!status)
        status = number_parts(topology);
    if (!status)
        status = topology_index_names(topology);
    if (!status)
        status = nw_rails_check(topology);
    if (!status)
        status = nw_domain_check(topology);
    if (!status)
        status = nw_network_find_levels(topology);
    if (!status)
        status = name_levels(topology);
    if (status)
        return status;
    topology->route_max = longest_route(topology);
    topology->integral = true;
    if (topology->depth_distance)
        topology->integral =
            all_whole(topology->depth_distance, (size_t)topology->depth_count);
    if (topology->matrix) {
        size_t count = (size_t)topology->element_first[topology->node_count];

        topology->integral = all_whole(topology->matrix, count * count);
    }
    return NW_OK;
}

bool nw_topology_has_parts(const nw_topology *topology)
{
    return !topology->matrix && !topology->depth_distance &&
           !(topology->type_count && topology->type[0]->vertex_count > 1 &&
             topology->type[0]->kind[1] == NW_VERTEX_GROUP);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers simple queries about a topology: counts, names, indices. */
#include "topology/topology.h"
#include "base/name_index.h"
#include "base/status.h"

#include <stdio.h>
#include <string.h>

const char *nw_topology_name(const nw_topology *topology)
{
    return topology->name;
}

const char *nw_topology_notes(const nw_topology *topology)
{
    return topology->notes.data ? topology->notes.data : "";
}

int32_t nw_topology_node_count(const nw_topology *topology)
{
    return topology->node_count;
}

int32_t nw_topology_element_count(const nw_topology *topology)
{
    return topology->element_first[topology->node_count];
}

int32_t nw_topology_gpu_count(const nw_topology *topology)
{
    return topology->gpu_first[topology->node_count];
}

int32_t nw_topology_link_count(const nw_topology *topology)
{
    return topology->link_count;
}

const char *nw_topology_node_name(const nw_topology *topology, int32_t node)
{
    return topology->node_name[node];
}

/* Returns the first index into by_name[] whose name is equal to, or sorts
 * after, the first `length` letters of `name`. */
static int32_t query_lower_bound(const nw_topology *topology, const char *name,
                                 size_t length)
{
    int32_t low = 0, high = topology->node_count;

    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        const char *here = topology->node_name[topology->by_name[middle]];

        if (strncmp(here, name, length) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the node "n1" for the name "n1.site", or for "n1" the only node whose
 * name begins with "n1."; -1 for none or several. */
static int32_t find_relative(const nw_topology *topology, const char *name)
{
    size_t length = strcspn(name, ".");
    int32_t found = -1;

    for (int32_t i = query_lower_bound(topology, name, length);
         i < topology->node_count; i++) {
        int32_t node = topology->by_name[i];
        const char *here = topology->node_name[node];

        if (strncmp(here, name, length))
            break;
        if (here[length] != (name[length] ? '\0' : '.'))
            continue;
        if (found >= 0)
            return -1;
        found = node;
    }
    return found;
}

int32_t nw_topology_node_find(const nw_topology *topology, const char *name)
{
    int32_t node =
        nw_names_find((struct nw_names){topology->node_name, sizeof(char *), 0,
                                        (size_t)topology->node_count},
                      topology->by_name, name);

    return node >= 0 ? node : find_relative(topology, name);
}

static struct nw_range query_range(const int32_t *first, int32_t i)
{
    return (struct nw_range){first[i], first[i + 1] - first[i]};
}

struct nw_range nw_topology_node_elements(const nw_topology *topology,
                                          int32_t node)
{
    return query_range(topology->element_first, node);
}

struct nw_range nw_topology_node_gpus(const nw_topology *topology, int32_t node)
{
    return query_range(topology->gpu_first, node);
}

int32_t nw_topology_node_package_count(const nw_topology *topology,
                                       int32_t node)
{
    return nw_topology_type_of(topology, node)->package_count;
}

int32_t nw_topology_node_nic_count(const nw_topology *topology, int32_t node)
{
    return nw_topology_type_of(topology, node)->nic_count;
}

/* Returns the i with first[i] <= value < first[i + 1]; such an i below `count`
 * must exist. */
static int32_t query_find_range(const int32_t *first, int32_t count,
                                int32_t value)
{
    int32_t low = 0, high = count;

    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;

        if (first[middle] <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int32_t nw_topology_element_node(const nw_topology *topology, int32_t element)
{
    return query_find_range(topology->element_first, topology->node_count,
                            element);
}

int32_t nw_topology_gpu_node(const nw_topology *topology, int32_t gpu)
{
    return query_find_range(topology->gpu_first, topology->node_count, gpu);
}

size_t nw_topology_element_cpus(const nw_topology *topology, int32_t element,
                                const int32_t **cpus)
{
    int32_t node = nw_topology_element_node(topology, element);
    const struct nw_node_type *type = nw_topology_type_of(topology, node);
    int32_t i = element - topology->element_first[node];
    bool threads = topology->elements == NW_ELEMENTS_PU;

    if (!type->pu_os || (!threads && !type->core_pu))
        return 0;
    *cpus = type->pu_os + (threads ? i : type->core_pu[i]);
    return threads ? 1 : (size_t)(type->core_pu[i + 1] - type->core_pu[i]);
}

struct nw_end nw_topology_element_end(const nw_topology *topology,
                                      int32_t element)
{
    int32_t node = nw_topology_element_node(topology, element);
    const struct nw_node_type *type = nw_topology_type_of(topology, node);

    return (struct nw_end){
        node, type->element[element - topology->element_first[node]], -1};
}

struct nw_end nw_topology_gpu_end(const nw_topology *topology, int32_t gpu)
{
    int32_t node = nw_topology_gpu_node(topology, gpu);
    const struct nw_node_type *type = nw_topology_type_of(topology, node);

    return (struct nw_end){node, type->gpu[gpu - topology->gpu_first[node]],
                           -1};
}

struct nw_end nw_topology_nic_end(const nw_topology *topology, int32_t node,
                                  int32_t nic)
{
    return (struct nw_end){node, nw_topology_type_of(topology, node)->nic[nic],
                           nic};
}

static int32_t query_package_of(const nw_topology *topology, struct nw_end end)
{
    const struct nw_node_type *type = nw_topology_type_of(topology, end.node);
    int32_t v = end.vertex;

    while (v >= 0 && type->kind[v] != NW_VERTEX_PACKAGE)
        v = type->parent[v];
    return v < 0 ? -1 : type->index[v];
}

int32_t nw_topology_element_package(const nw_topology *topology,
                                    int32_t element)
{
    return query_package_of(topology,
                            nw_topology_element_end(topology, element));
}

int32_t nw_topology_gpu_package(const nw_topology *topology, int32_t gpu)
{
    return query_package_of(topology, nw_topology_gpu_end(topology, gpu));
}

NW_OLD_NAME(nw_topology_element_threads, nw_topology_element_cpus);

static struct nw_device_info device_info(const struct nw_device *devices,
                                         int32_t i)
{
    if (!devices)
        return (struct nw_device_info){NULL, NULL, NULL};
    return (struct nw_device_info){devices[i].name, devices[i].uuid,
                                   devices[i].pci};
}

struct nw_device_info nw_topology_gpu_info(const nw_topology *topology,
                                           int32_t gpu)
{
    int32_t node = nw_topology_gpu_node(topology, gpu);

    return device_info(nw_topology_type_of(topology, node)->gpu_device,
                       gpu - topology->gpu_first[node]);
}

struct nw_device_info nw_topology_nic_info(const nw_topology *topology,
                                           int32_t node, int32_t nic)
{
    return device_info(nw_topology_type_of(topology, node)->nic_device, nic);
}

bool nw_topology_is_integral(const nw_topology *topology)
{
    return topology->integral;
}

bool nw_topology_has_links(const nw_topology *topology)
{
    return !topology->matrix;
}

size_t nw_topology_route_max(const nw_topology *topology)
{
    return topology->route_max;
}

int32_t nw_topology_level_count(const nw_topology *topology)
{
    return topology->level_count;
}

const char *nw_topology_level_name(const nw_topology *topology, int32_t level)
{
    return topology->level_name[level];
}

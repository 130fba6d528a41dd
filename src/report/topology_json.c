/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a machine as JSON: each link class once, each type of node once, then
 * the network and the nodes. The output contains the links that routes use, and
 * the distances of a hierarchy or of a matrix. */
#include <nodewise/report.h>

#include "base/json.h"
#include "topology/topology.h"

static void topology_json_add_class(struct nw_json *json,
                                    const struct nw_link_class *class)
{
    nw_json_flat_object(json, NULL);
    nw_json_string(json, "kind",
                   nw_link_kind_name((enum nw_link_kind) class->kind));
    nw_json_number(json, "bandwidth_up", class->bandwidth[0]);
    nw_json_number(json, "bandwidth_down", class->bandwidth[1]);
    nw_json_number(json, "latency", class->latency);
    nw_json_bool(json, "half_duplex", class->half_duplex);
    nw_json_bool(json, "assumed", class->assumed);
    nw_json_end_object(json);
}

static void add_device(struct nw_json *json, const struct nw_device *device)
{
    if (device->name)
        nw_json_string(json, "name", device->name);
    if (device->uuid)
        nw_json_string(json, "uuid", device->uuid);
    if (device->pci)
        nw_json_string(json, "pci", device->pci);
}

static void add_vertex(struct nw_json *json, const struct nw_node_type *type,
                       int32_t v)
{
    nw_json_flat_object(json, NULL);
    nw_json_string(json, "kind",
                   nw_vertex_kind_name((enum nw_vertex_kind)type->kind[v]));
    nw_json_integer(json, "index", type->index[v]);
    nw_json_integer(json, "parent", type->parent[v]);
    if (v && type->class[v] >= 0)
        nw_json_integer(json, "link", type->class[v]);
    if (type->kind[v] == NW_VERTEX_GPU && type->gpu_device)
        add_device(json, &type->gpu_device[type->index[v]]);
    if (type->kind[v] == NW_VERTEX_NIC && type->nic_device)
        add_device(json, &type->nic_device[type->index[v]]);
    nw_json_end_object(json);
}

static void add_type(struct nw_json *json, const struct nw_node_type *type)
{
    nw_json_object(json, NULL);
    nw_json_string(json, "name", type->name ? type->name : "");
    nw_json_bool(json, "staged", type->staged);
    nw_json_bool(json, "pxn", type->pxn);
    nw_json_integer(json, "cores", type->core_count);
    nw_json_integer(json, "gpus", type->gpu_count);
    nw_json_array(json, "vertices");
    for (int32_t v = 0; v < type->vertex_count; v++)
        add_vertex(json, type, v);
    nw_json_end_array(json);
    nw_json_array(json, "direct");
    for (int32_t d = 0; d < type->direct_count; d++) {
        nw_json_flat_object(json, NULL);
        nw_json_integer(json, "a", type->direct[d].a);
        nw_json_integer(json, "b", type->direct[d].b);
        nw_json_integer(json, "link", type->direct[d].class);
        nw_json_end_object(json);
    }
    nw_json_end_array(json);
    nw_json_end_object(json);
}

static void add_network(struct nw_json *json, const struct nw_network *network)
{
    nw_json_object(json, "network");
    nw_json_string(json, "kind", network->ops->name);
    nw_json_array(json, "switches");
    for (int32_t s = 0; s < network->switch_count; s++) {
        if (network->switch_name[s])
            nw_json_string(json, NULL, network->switch_name[s]);
        else
            nw_json_null(json, NULL);
    }
    nw_json_end_array(json);
    nw_json_flat_array(json, "levels");
    for (int32_t s = 0; s < network->switch_count; s++)
        nw_json_integer(json, NULL, network->level[s]);
    nw_json_end_array(json);
    nw_json_array(json, "links");
    for (int32_t l = 0; l < network->link_count; l++) {
        nw_json_flat_object(json, NULL);
        nw_json_integer(json, "a", network->link_a[l]);
        nw_json_integer(json, "b", network->link_b[l]);
        nw_json_integer(json, "link", network->link_class[l]);
        nw_json_end_object(json);
    }
    nw_json_end_array(json);
    nw_json_end_object(json);
}

static void add_node(struct nw_json *json, const nw_topology *topology,
                     int32_t node)
{
    struct nw_range elements = nw_topology_node_elements(topology, node);
    struct nw_range gpus = nw_topology_node_gpus(topology, node);

    nw_json_flat_object(json, NULL);
    nw_json_string(json, "name", topology->node_name[node]);
    nw_json_integer(json, "type", topology->node_type[node]);
    if (topology->domain && topology->domain[node] >= 0)
        nw_json_string(json, "domain",
                       topology->domain_name[topology->domain[node]]);
    nw_json_integer(json, "first_element", elements.first);
    nw_json_integer(json, "elements", elements.count);
    nw_json_integer(json, "first_gpu", gpus.first);
    nw_json_integer(json, "gpus", gpus.count);
    if (topology->network) {
        nw_json_flat_array(json, "ports");
        for (int32_t p = topology->port_first[node];
             p < topology->port_first[node + 1]; p++) {
            nw_json_flat_object(json, NULL);
            nw_json_integer(json, "switch", topology->port[p]);
            nw_json_integer(json, "link", topology->port_class[p]);
            nw_json_end_object(json);
        }
        nw_json_end_array(json);
    }
    nw_json_end_object(json);
}

static void topology_json_add_domains(struct nw_json *json,
                                      const nw_topology *topology)
{
    nw_json_array(json, "domains");
    for (int32_t d = 0; d < topology->domain_count; d++) {
        nw_json_flat_object(json, NULL);
        nw_json_string(json, "name", topology->domain_name[d]);
        if (topology->upper[d] >= 0) {
            nw_json_string(json, "upper",
                           topology->upper_name[topology->upper[d]]);
            nw_json_integer(json, "link", topology->uplink_class[d]);
        }
        nw_json_end_object(json);
    }
    nw_json_end_array(json);
}

static void topology_json_add_matrix(struct nw_json *json,
                                     const nw_topology *topology)
{
    size_t n = (size_t)nw_topology_element_count(topology);

    nw_json_array(json, "matrix");
    for (size_t row = 0; row < n; row++) {
        nw_json_flat_array(json, NULL);
        for (size_t column = 0; column < n; column++)
            nw_json_number(json, NULL, topology->matrix[row * n + column]);
        nw_json_end_array(json);
    }
    nw_json_end_array(json);
}

static void add_counts(struct nw_json *json, const nw_topology *topology)
{
    nw_json_string(json, "schema", "nodewise.topology/1");
    nw_json_string(json, "name", topology->name);
    nw_json_string(json, "element",
                   topology->elements == NW_ELEMENTS_PU ? "pu" : "core");
    nw_json_integer(json, "node_count", topology->node_count);
    nw_json_integer(json, "element_count", nw_topology_element_count(topology));
    nw_json_integer(json, "gpu_count", nw_topology_gpu_count(topology));
    nw_json_integer(json, "link_count", nw_topology_link_count(topology));
    if (topology->depth_distance) {
        nw_json_flat_array(json, "distances");
        for (int32_t d = topology->depth_count - 1; d >= 0; d--)
            nw_json_number(json, NULL, topology->depth_distance[d]);
        nw_json_end_array(json);
    }
    if (topology->matrix)
        topology_json_add_matrix(json, topology);
}

nw_status nw_report_topology_json(const nw_topology *topology, char **out)
{
    struct nw_text text = {0};
    struct nw_json json = {.text = &text};

    nw_json_object(&json, NULL);
    add_counts(&json, topology);
    nw_json_array(&json, "links");
    for (int32_t class = 0; class < topology->class_count; class ++)
        topology_json_add_class(&json, &topology->class[class]);
    nw_json_end_array(&json);
    nw_json_array(&json, "types");
    for (int32_t t = 0; t < topology->type_count; t++)
        add_type(&json, topology->type[t]);
    nw_json_end_array(&json);
    if (topology->network)
        add_network(&json, topology->network);
    if (topology->upper)
        topology_json_add_domains(&json, topology);
    nw_json_array(&json, "nodes");
    for (int32_t node = 0; node < topology->node_count; node++)
        add_node(&json, topology, node);
    nw_json_end_array(&json);
    nw_json_end_object(&json);
    return nw_text_take(&text, out);
}

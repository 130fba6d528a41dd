/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads an NCCL file of several hosts: each host_hash becomes a node. One
 * switch connects the nodes, since the file does not name the network between
 * them. */
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/gpu/nccl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NCCL_MAX_HOSTS 4096

/* The hosts in the order of the file: host_hash, node type and first port of
 * each. */
struct nccl_hosts {
    const char *host[NCCL_MAX_HOSTS + 1];
    int32_t type[NCCL_MAX_HOSTS], first_port[NCCL_MAX_HOSTS + 1];
    int32_t count;
    int32_t *port_class; /* [port_count] link class of each port; owned */
    size_t port_count, port_capacity;
};

static const char *nccl_hash(const struct nw_xml *tag)
{
    return strcmp(tag->tag, "cpu") ? NULL : nw_xml_get(tag, "host_hash");
}

bool nw_nccl_has_hosts(const struct nw_xml *system)
{
    const char *first = NULL;

    for (const struct nw_xml *tag = system->first; tag; tag = tag->next) {
        const char *hash = nccl_hash(tag);

        if (first && hash && strcmp(first, hash))
            return true;
        first = first ? first : hash;
    }
    return false;
}

static nw_status nccl_list_hosts(const struct nw_nccl *nccl,
                                 const struct nw_xml *system,
                                 struct nccl_hosts *hosts)
{
    for (const struct nw_xml *tag = system->first; tag; tag = tag->next) {
        const char *hash = nccl_hash(tag);
        int32_t h = 0;

        if (strcmp(tag->tag, "cpu"))
            continue;
        if (!hash)
            return nw_fail(NW_EFORMAT, "%s:%d: this <cpu> has no host_hash",
                           nccl->file, tag->line);
        while (h < hosts->count && strcmp(hosts->host[h], hash))
            h++;
        if (h == NCCL_MAX_HOSTS)
            return nw_fail(NW_EFORMAT, "%s:%d: more than %d hosts", nccl->file,
                           tag->line, NCCL_MAX_HOSTS);
        hosts->host[h] = hash;
        hosts->count += h == hosts->count;
    }
    return NW_OK;
}

static bool nccl_same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool nccl_same_devices(const struct nw_device *a,
                              const struct nw_device *b, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        if (!nccl_same_text(a[i].pci, b[i].pci) ||
            !nccl_same_text(a[i].name, b[i].name))
            return false;
    return true;
}

static bool nccl_same_cores(const struct nw_node_type *a,
                            const struct nw_node_type *b)
{
    size_t cores = 0;

    for (int32_t v = 0; v < a->vertex_count; v++)
        cores += a->kind[v] == NW_VERTEX_CORE;
    if (!a->core_os || !b->core_os)
        return a->core_os == b->core_os;
    return !memcmp(a->core_os, b->core_os, cores * sizeof *a->core_os) &&
           !memcmp(a->core_pu, b->core_pu, (cores + 1) * sizeof *a->core_pu) &&
           !memcmp(a->pu_os, b->pu_os,
                   (size_t)a->core_pu[cores] * sizeof *a->pu_os);
}

static bool nccl_same_type(const struct nw_node_type *a,
                           const struct nw_node_type *b)
{
    size_t n = (size_t)a->vertex_count;

    if (a->vertex_count != b->vertex_count ||
        a->direct_count != b->direct_count || a->gpu_count != b->gpu_count ||
        a->nic_count != b->nic_count ||
        memcmp(a->parent, b->parent, n * sizeof *a->parent) ||
        memcmp(a->kind, b->kind, n) ||
        memcmp(a->class, b->class, n * sizeof *a->class))
        return false;
    for (int32_t d = 0; d < a->direct_count; d++)
        if (a->direct[d].a != b->direct[d].a ||
            a->direct[d].b != b->direct[d].b ||
            a->direct[d].class != b->direct[d].class)
            return false;
    return nccl_same_devices(a->gpu_device, b->gpu_device, a->gpu_count) &&
           nccl_same_devices(a->nic_device, b->nic_device, a->nic_count) &&
           nccl_same_cores(a, b);
}

/* Returns the newest node type, or an earlier one that equals it; in that case
 * the newest is removed. */
static int32_t nccl_share_type(nw_topology *topology)
{
    int32_t last = topology->type_count - 1;

    for (int32_t t = 0; t < last; t++)
        if (nccl_same_type(topology->type[t], topology->type[last])) {
            nw_topology_drop_last_type(topology);
            return t;
        }
    return last;
}

static const struct nw_xml *nccl_child(const struct nw_xml *tag,
                                       const char *name)
{
    const struct nw_xml *below = tag ? tag->first : NULL;

    while (below && strcmp(below->tag, name))
        below = below->next;
    return below;
}

/* Returns the bandwidth of a NIC's port in bytes/s; 0 if unknown. In the file
 * it is in Mbit/s: <net speed="800000">. */
static double nccl_port_rate(const struct nw_nccl_device *device)
{
    const struct nw_xml *net =
        nccl_child(nccl_child(device->pci, "nic"), "net");
    const char *speed = net ? nw_xml_get(net, "speed") : NULL;
    int32_t megabits;

    return speed && nw_parse_i32(speed, &megabits) && megabits > 0
               ? megabits * 1e6 / 8
               : 0;
}

static nw_status nccl_add_port(struct nw_nccl *nccl, struct nccl_hosts *hosts,
                               double rate)
{
    int32_t class;
    nw_status status =
        nw_topology_class_of_rate(nccl->topology, NW_LINK_NIC, rate, &class);

    if (!status)
        status = nw_grow(&hosts->port_class, &hosts->port_capacity,
                         hosts->port_count + 1, sizeof *hosts->port_class);
    if (!status)
        hosts->port_class[hosts->port_count++] = class;
    return status;
}

/* Adds a port for each NIC of the host that was read last, or one port if the
 * host has no NIC. */
static nw_status nccl_add_ports(struct nw_nccl *nccl, struct nccl_hosts *hosts)
{
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < nccl->count; i++)
        if (nccl->device[i].kind == NW_VERTEX_NIC)
            status =
                nccl_add_port(nccl, hosts, nccl_port_rate(&nccl->device[i]));
    if (!status && !nccl->type->nic_count)
        status = nccl_add_port(nccl, hosts, 0);
    return status;
}

static nw_status nccl_build_types(struct nw_nccl *nccl,
                                  const struct nw_xml *system,
                                  nw_nccl_builder *build,
                                  struct nccl_hosts *hosts)
{
    char name[24];
    nw_status status = NW_OK;

    for (int32_t h = 0; !status && h < hosts->count; h++) {
        snprintf(name, sizeof name, "node%d", nccl->topology->type_count + 1);
        nccl->type_name = name;
        nccl->host = hosts->host[h];
        hosts->first_port[h] = (int32_t)hosts->port_count;
        status = build(nccl, system);
        if (!status)
            status = nccl_add_ports(nccl, hosts);
        if (!status)
            hosts->type[h] = nccl_share_type(nccl->topology);
    }
    hosts->first_port[hosts->count] = (int32_t)hosts->port_count;
    return status;
}

static nw_status nccl_add_network(nw_topology *topology)
{
    struct nw_network *network;
    nw_status status = nw_network_new(1, &network);

    if (status)
        return status;
    nw_topology_take_network(topology, network);
    status = nw_strdup("(network)", &network->switch_name[0]);
    if (!status)
        status = nw_alloc(1, sizeof *network->parent, &network->parent);
    if (!status)
        status = nw_alloc(1, sizeof *network->uplink, &network->uplink);
    if (status)
        return status;
    network->parent[0] = network->uplink[0] = -1;
    return nw_network_finish_tree(network);
}

/* Adds the nodes; all their ports lead to switch 0, the only one. */
static nw_status nccl_add_nodes(nw_topology *topology,
                                const struct nccl_hosts *hosts)
{
    nw_status status = nw_topology_set_nodes(topology, hosts->count,
                                             (int32_t)hosts->port_count);

    for (int32_t h = 0; !status && h < hosts->count; h++) {
        topology->node_type[h] = hosts->type[h];
        if (asprintf(&topology->node_name[h], "host%d", h + 1) < 0) {
            topology->node_name[h] = NULL;
            status = nw_fail(NW_ENOMEM, "out of memory");
        }
    }
    if (status)
        return status;
    memcpy(topology->port_first, hosts->first_port,
           ((size_t)hosts->count + 1) * sizeof *topology->port_first);
    memcpy(topology->port_class, hosts->port_class,
           hosts->port_count * sizeof *topology->port_class);
    return NW_OK;
}

nw_status nw_nccl_hosts(struct nw_nccl *nccl, const struct nw_xml *system,
                        nw_nccl_builder *build, enum nw_elements elements)
{
    struct nccl_hosts *hosts;
    nw_status status = nw_alloc(1, sizeof *hosts, &hosts);

    if (status)
        return status;
    status = nccl_list_hosts(nccl, system, hosts);
    if (!status)
        status = nccl_build_types(nccl, system, build, hosts);
    if (!status)
        status = nccl_add_network(nccl->topology);
    if (!status)
        status = nccl_add_nodes(nccl->topology, hosts);
    if (!status) {
        nw_text_format(
            &nccl->topology->notes,
            "%s does not name the network of its %d host%s: one switch is "
            "assumed, and NVLink between hosts is left out\n",
            nccl->file, hosts->count, nw_plural((uint64_t)hosts->count));
        status = nw_topology_finish(nccl->topology, elements);
    }
    free(hosts->port_class);
    free(hosts);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds the GPUs and links that NVML and ROCm SMI report to the node type that
 * hwloc has found for this machine. */
#include "topology/gpu/links.h"
#include "base/array.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The largest of NVML's distances for which the path between two GPUs has only
 * PCIe switches and no host bridge. */
#define ONE_SWITCH 20

/* The node type to which the reported GPUs and links are added. */
struct join {
    nw_topology *topology;
    struct nw_node_type *type;
    const struct nw_gpu_links *links;
    /* [GPU in `links`] its vertex; -1: none */
    int32_t vertex[NW_GPU_MAX];
};

/* Stores a word unless *out is already set or the word is "". */
static nw_status fill_word(const char *word, char **out)
{
    return *out || !*word ? NW_OK : nw_strdup(word, out);
}

/* Finds the vertex of each GPU by PCI address, and fills in names and UUIDs
 * that hwloc did not report. */
static nw_status gpu_links_match(struct join *join)
{
    struct nw_node_type *type = join->type;
    nw_status status = NW_OK;

    for (int32_t f = 0; f < join->links->gpu_count; f++) {
        const struct nw_gpu_found *found = &join->links->gpu[f];

        join->vertex[f] = -1;
        for (int32_t g = 0; !status && g < type->gpu_count; g++) {
            struct nw_device *device = &type->gpu_device[g];

            if (!device->pci || strcasecmp(device->pci, found->pci))
                continue;
            join->vertex[f] = nw_node_type_nth(type, NW_VERTEX_GPU, g);
            status = fill_word(found->name, &device->name);
            if (!status)
                status = fill_word(found->uuid, &device->uuid);
        }
    }
    return status;
}

static nw_status links_add_vertex(struct join *join, int32_t parent,
                                  enum nw_vertex_kind kind, int32_t *vertex)
{
    struct nw_link_class pcie = nw_link_assumed(NW_LINK_PCIE);
    int32_t class;
    nw_status status = nw_topology_class(join->topology, &pcie, &class);

    return status ? status
                  : nw_node_type_add(join->type, parent, kind, class, vertex);
}

/* Adds the GPUs below the node; called if hwloc has found no GPUs. GPUs that
 * only PCIe switches separate get a common bridge. */
static nw_status gpu_links_graft(struct join *join)
{
    const struct nw_gpu_links *links = join->links;
    int32_t parent[NW_GPU_MAX];
    nw_status status =
        nw_alloc((size_t)links->gpu_count, sizeof *join->type->gpu_device,
                 &join->type->gpu_device);

    for (int32_t f = 0; !status && f < links->gpu_count; f++) {
        struct nw_device *device = &join->type->gpu_device[f];
        bool company = false;

        parent[f] = 0;
        for (int32_t e = 0; e < links->gpu_count; e++) {
            if (!links->near[f][e] || links->near[f][e] > ONE_SWITCH)
                continue;
            company = true;
            if (e < f)
                parent[f] = parent[e];
        }
        if (company && !parent[f])
            status = links_add_vertex(join, 0, NW_VERTEX_BRIDGE, &parent[f]);
        if (!status)
            status = links_add_vertex(join, parent[f], NW_VERTEX_GPU,
                                      &join->vertex[f]);
        join->type->gpu_count = f + 1;
        if (!status)
            status = fill_word(links->gpu[f].pci, &device->pci);
        if (!status)
            status = fill_word(links->gpu[f].name, &device->name);
        if (!status)
            status = fill_word(links->gpu[f].uuid, &device->uuid);
    }
    return status;
}

static nw_status links_class_of(struct join *join,
                                const struct nw_gpu_link *link, int32_t *class)
{
    struct nw_link_class figures = nw_link_assumed(link->kind);

    for (int i = 0; i < 2; i++)
        figures.bandwidth[i] =
            link->count * (link->rate > 0 ? link->rate : 25e9);
    figures.assumed = link->rate <= 0;
    return nw_topology_class(join->topology, &figures, class);
}

/* Sets *vertex to the vertex of a link's other end, which is a GPU or a GPU
 * switch. For a GPU it is -1 if that GPU is unknown. For a switch it is the
 * only GPU switch of the type, which is added if it is missing; see
 * gpu/switch.c. */
static nw_status far_end(struct join *join, const struct nw_gpu_link *link,
                         int32_t *vertex)
{
    *vertex = -1;
    if (link->far == NW_FAR_GPU) {
        for (int32_t f = 0; f < join->links->gpu_count; f++)
            if (!strcmp(join->links->gpu[f].pci, link->pci))
                *vertex = join->vertex[f];
        return NW_OK;
    }
    *vertex = nw_node_type_nth(join->type, NW_VERTEX_GPU_SWITCH, 0);
    return *vertex < 0 ? links_add_vertex(join, 0, NW_VERTEX_GPU_SWITCH, vertex)
                       : NW_OK;
}

/* For a GPU whose NVLink leads to its processor: moves the GPU from its PCIe
 * bridge to the NUMA node or package above, if there is one. The link to this
 * new parent has the class of the NVLink. */
static nw_status join_processor(struct join *join, int32_t vertex,
                                int32_t class)
{
    struct nw_node_type *type = join->type;
    int32_t up = type->parent[vertex];

    while (up > 0 && type->kind[up] != NW_VERTEX_PACKAGE &&
           type->kind[up] != NW_VERTEX_NUMA)
        up = type->parent[up];
    if (up > 0) {
        type->parent[vertex] = up;
        type->class[vertex] = class;
    }
    return NW_OK;
}

static bool is_joined(const struct nw_node_type *type, int32_t a, int32_t b)
{
    for (int32_t d = 0; d < type->direct_count; d++)
        if ((type->direct[d].a == a && type->direct[d].b == b) ||
            (type->direct[d].a == b && type->direct[d].b == a))
            return true;
    return false;
}

static nw_status add_links(struct join *join)
{
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < join->links->link_count; i++) {
        const struct nw_gpu_link *link = &join->links->link[i];
        int32_t near = join->vertex[link->gpu], far = -1, class;

        if (near < 0)
            continue;
        status = links_class_of(join, link, &class);
        if (!status && link->far == NW_FAR_PROCESSOR) {
            status = join_processor(join, near, class);
            continue;
        }
        if (!status)
            status = far_end(join, link, &far);
        if (!status && far >= 0 && far != near &&
            (link->far == NW_FAR_SWITCH || !is_joined(join->type, near, far)))
            status = nw_node_type_add_direct(join->type, near, far, class);
    }
    return status;
}

/* Returns true if ROCm SMI should be loaded: hwloc has found more GPUs than
 * NVML, or AMD's driver is loaded. On other machines, ROCm SMI prints errors.
 */
static bool may_be_amd(const struct nw_node_type *type,
                       const struct nw_gpu_links *links)
{
    return type->gpu_count > links->gpu_count || !access("/dev/kfd", F_OK);
}

nw_status nw_gpu_links_apply(nw_topology *topology, struct nw_node_type *type)
{
    struct join join = {.topology = topology, .type = type};
    struct nw_gpu_links *links;
    nw_status status = nw_alloc(1, sizeof *links, &links);

    if (status)
        return status;
    join.links = links;
    status = nw_nvml_find(links);
    if (!status && may_be_amd(type, links))
        status = nw_rocm_find(links);
    if (!status && links->gpu_count)
        status =
            type->gpu_count ? gpu_links_match(&join) : gpu_links_graft(&join);
    if (!status && links->gpu_count && !type->direct_count)
        status = add_links(&join);
    free(links->link);
    free(links);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads nvidia-smi:FILE. The matrix in the file names, for each pair of
 * devices, what their common ancestor in the tree is: one bridge, several
 * bridges, a host bridge, a processor, or the node. This file builds such a
 * tree. NVLinks become direct links. */
#include "topology/gpu/nvidia_smi.h"
#include "base/array.h"
#include "base/file.h"
#include "base/status.h"
#include "topology/source.h"

#include <stdlib.h>
#include <string.h>

/* bytes/s of one NVLink in one direction, generations 2 to 4 */
#define NVLINK_RATE 25e9
/* number of NVLinks of a GPU with NVLink 4, the most of generations 2 to 4 */
#define MOST_LINKS 18

/* The result of comparing the affinity lists of two devices: same, different
 * (APART), or unknown because one of the lists is missing. */
enum smi_affinity {
    SMI_AFFINITY_UNKNOWN,
    SMI_AFFINITY_SAME,
    SMI_AFFINITY_APART
};

static enum smi_affinity smi_compare_lists(const char *a, const char *b)
{
    if (!a || !b)
        return SMI_AFFINITY_UNKNOWN;
    return strcmp(a, b) ? SMI_AFFINITY_APART : SMI_AFFINITY_SAME;
}

/* Compares two devices by their lists of cores. If one list is missing,
 * compares their NUMA nodes. A list is missing, for example, for the second
 * processor in a container that may use only the first. */
static enum smi_affinity smi_compare_affinity(const struct nw_smi_device *a,
                                              const struct nw_smi_device *b)
{
    enum smi_affinity by_cores = smi_compare_lists(a->cores, b->cores);

    return by_cores ? by_cores : smi_compare_lists(a->numa, b->numa);
}

/* Groups of devices, as a union-find forest: above[i] leads to the root of i's
 * group. known[root] is a device of the group that has an affinity; -1:
 * none. */
struct smi_groups {
    int32_t above[NW_SMI_MAX], known[NW_SMI_MAX];
};

/* Joins the groups of devices i and j unless their affinities differ. */
static void smi_join(const struct nw_smi *smi, struct smi_groups *groups,
                     int32_t i, int32_t j)
{
    int32_t a = nw_group_root(groups->above, i),
            b = nw_group_root(groups->above, j);
    int32_t x = groups->known[a], y = groups->known[b];

    if (x >= 0 && y >= 0 &&
        smi_compare_affinity(&smi->device[x], &smi->device[y]) ==
            SMI_AFFINITY_APART)
        return;
    groups->above[a] = b;
    groups->known[b] = y < 0 ? x : y;
}

/* Joins the groups of each pair of devices that has the same affinity, and of
 * each pair with unknown affinity whose closeness is `close`. */
static void smi_join_pairs_at(const struct nw_smi *smi,
                              struct smi_groups *groups,
                              enum nw_smi_close close)
{
    for (int32_t i = 0; i < smi->count; i++)
        for (int32_t j = 0; j < i; j++) {
            enum smi_affinity affinity =
                smi_compare_affinity(&smi->device[i], &smi->device[j]);

            if (affinity == SMI_AFFINITY_SAME ||
                (affinity == SMI_AFFINITY_UNKNOWN && smi->close[i][j] == close))
                smi_join(smi, groups, i, j);
        }
}

/* Divides the devices into groups, one for each processor. Sets device[].group
 * and returns the number of groups. Devices with the same cores or NUMA nodes
 * form a group. A device without these lists joins the closest group, but not
 * one that it reaches only by way of another processor (SYS). */
static int32_t find_packages(struct nw_smi *smi)
{
    struct smi_groups groups;
    int32_t count = 0;

    for (int32_t i = 0; i < smi->count; i++) {
        groups.above[i] = i;
        groups.known[i] = smi->device[i].cores || smi->device[i].numa ? i : -1;
        smi->device[i].group = -1;
    }
    for (int close = NW_SMI_SELF; close < NW_SMI_SYS; close++)
        smi_join_pairs_at(smi, &groups, (enum nw_smi_close)close);
    for (int32_t i = 0; i < smi->count; i++) {
        int32_t top = nw_group_root(groups.above, i);

        if (smi->device[top].group < 0)
            smi->device[top].group = count++;
        smi->device[i].group = smi->device[top].group;
    }
    return count;
}

static const char *nvidia_smi_cores_of(const struct nw_smi *smi, int32_t group)
{
    for (int32_t i = 0; i < smi->count; i++)
        if (smi->device[i].group == group && smi->device[i].cores)
            return smi->device[i].cores;
    return NULL;
}

static bool holds_gpu(const struct nw_smi *smi, int32_t group)
{
    for (int32_t i = 0; i < smi->count; i++)
        if (smi->device[i].group == group && smi->device[i].gpu)
            return true;
    return false;
}

/* Fails if a device's list of cores or of NUMA nodes is invalid, even if the
 * list is not used. */
static nw_status check_lists(const struct nw_smi *smi,
                             const struct nw_smi_device *device)
{
    const char *const lists[] = {device->cores, device->numa};
    static const char *const names[] = {"cores", "NUMA nodes"};
    nw_status status = NW_OK;

    for (int i = 0; !status && i < 2; i++) {
        struct nw_threads numbers = {0};
        bool good = true;

        if (lists[i])
            status = nw_threads_list(lists[i], &numbers, &good);
        if (!status && !good)
            status = nw_fail(NW_EFORMAT, "%s:%d: no list of %s: '%.40s'",
                             smi->file, device->line, names[i], lists[i]);
        free(numbers.os);
    }
    return status;
}

/* Returns the number of hardware threads per core: 4 for a POWER9 machine,
 * otherwise 0 (unknown). On POWER9, Linux numbers the NUMA nodes 0 and 8, and
 * the four threads of a core consecutively. On other machines with a gap
 * between the numbers of NUMA nodes, the core numbers have a gap too. */
static int32_t smi_threads_per_core(const struct nw_smi *smi,
                                    const struct nw_threads *threads,
                                    int32_t groups)
{
    size_t count = 0;
    int32_t last = -1;
    bool second = false;

    for (int32_t g = 0; g < groups; g++) {
        count += threads[g].count;
        if (threads[g].count && threads[g].os[threads[g].count - 1] > last)
            last = threads[g].os[threads[g].count - 1];
    }
    for (int32_t i = 0; i < smi->count; i++) {
        const char *numa = smi->device[i].numa;

        second |= numa && !strcmp(numa, "8");
        if (numa && strcmp(numa, "0") && strcmp(numa, "8"))
            return 0;
    }
    return second && count == (size_t)last + 1 && count % 4 == 0 ? 4 : 0;
}

static nw_status nvidia_smi_read_threads(const struct nw_smi *smi,
                                         int32_t groups,
                                         struct nw_threads *threads)
{
    nw_status status = NW_OK;

    for (int32_t i = 0; !status && i < smi->count; i++)
        status = check_lists(smi, &smi->device[i]);
    for (int32_t g = 0; !status && g < groups; g++) {
        const char *cores = nvidia_smi_cores_of(smi, g);
        bool good;

        if (cores)
            status = nw_threads_list(cores, &threads[g], &good);
    }
    for (int32_t g = 0; !status && g < groups; g++)
        threads[g].per_core = smi_threads_per_core(smi, threads, groups);
    return status;
}

static nw_status add_package(struct nw_smi *smi, int32_t group,
                             const struct nw_threads *threads, int32_t *vertex)
{
    int32_t class;
    nw_status status;

    *vertex = 0;
    if (threads->elsewhere || (!threads->count && !holds_gpu(smi, group)))
        return NW_OK; /* the devices of this group are added below the node: the
                         group has neither GPUs nor cores, or smaller groups
                         have all its cores */
    status =
        nw_topology_class_of_rate(smi->topology, NW_LINK_SOCKET, 0, &class);
    if (!status)
        status =
            nw_node_type_add(smi->type, 0, NW_VERTEX_PACKAGE, class, vertex);
    return status ? status
                  : nw_single_cores(smi->topology, smi->type, *vertex, threads);
}

/* Adds the packages in the order of their thread numbers; vertex[g] is the
 * package of group g, or 0 if it has none. */
static nw_status add_packages(struct nw_smi *smi, int32_t groups,
                              int32_t *vertex)
{
    struct nw_threads *threads;
    int32_t order[NW_SMI_MAX];
    nw_status status = nw_alloc((size_t)groups, sizeof *threads, &threads);

    if (status)
        return status;
    status = nvidia_smi_read_threads(smi, groups, threads);
    if (!status)
        status = nw_threads_share(threads, groups, order);
    for (int32_t k = 0; !status && k < groups; k++)
        status =
            add_package(smi, order[k], &threads[order[k]], &vertex[order[k]]);
    for (int32_t g = 0; g < groups; g++)
        free(threads[g].os);
    free(threads);
    return status;
}

/* Devices that are closer to each other than to the rest (a package, a bridge),
 * and the vertex below which they are added; or GPUs joined by NVLinks, without
 * a vertex. */
struct nvidia_smi_part {
    int32_t member[NW_SMI_MAX];
    int32_t count, vertex;
    bool bridged; /* the vertex is a bridge of exactly these devices */
};

static nw_status nvidia_smi_add_bridge(struct nw_smi *smi,
                                       struct nvidia_smi_part *part)
{
    int32_t class;
    nw_status status =
        nw_topology_class_of_rate(smi->topology, NW_LINK_PCIE, 0, &class);

    part->bridged = true;
    return status ? status
                  : nw_node_type_add(smi->type, part->vertex, NW_VERTEX_BRIDGE,
                                     class, &part->vertex);
}

/* Adds to `out` each device of `part` that is at most `close` apart from a
 * device of `out`, until there are no more. taken[i] is set for each added
 * member i of `part`. */
static void nvidia_smi_gather(const struct nw_smi *smi,
                              const struct nvidia_smi_part *part,
                              enum nw_smi_close close, bool *taken,
                              struct nvidia_smi_part *out)
{
    for (int32_t k = 0; k < out->count; k++)
        for (int32_t i = 0; i < part->count; i++) {
            int32_t device = part->member[i];

            if (taken[i] || smi->close[out->member[k]][device] > close)
                continue;
            taken[i] = true;
            out->member[out->count++] = device;
        }
}

/* Divides a part by closeness, from far to near, and sets the parent vertex of
 * each device. Devices that are closer to each other than to the rest of the
 * part get their own bridge. */
static nw_status nvidia_smi_split(struct nw_smi *smi,
                                  const struct nvidia_smi_part *part,
                                  enum nw_smi_close close)
{
    bool taken[NW_SMI_MAX] = {false};
    nw_status status = NW_OK;
    struct nvidia_smi_part *below = NULL;

    if (close == NW_SMI_SELF || part->count == 1) {
        for (int32_t i = 0; i < part->count; i++)
            smi->device[part->member[i]].vertex = part->vertex;
        return NW_OK;
    }
    status = nw_alloc(1, sizeof *below, &below);
    for (int32_t i = 0; !status && i < part->count; i++) {
        if (taken[i])
            continue;
        taken[i] = true;
        *below = (struct nvidia_smi_part){.count = 1, .vertex = part->vertex};
        below->member[0] = part->member[i];
        nvidia_smi_gather(smi, part, close, taken, below);
        below->bridged = below->count == part->count && part->bridged;
        /* if all devices of the part meet at its package or bridge, no other
         * bridge is needed */
        if (below->count > 1 && (below->count < part->count ||
                                 (close <= NW_SMI_PXB && !below->bridged)))
            status = nvidia_smi_add_bridge(smi, below);
        if (!status)
            status = nvidia_smi_split(smi, below, close - 1);
    }
    free(below);
    return status;
}

static nw_status nvidia_smi_build_tree(struct nw_smi *smi)
{
    int32_t groups = find_packages(smi), vertex[NW_SMI_MAX];
    struct nvidia_smi_part *part;
    nw_status status = add_packages(smi, groups, vertex);

    if (!status)
        status = nw_alloc(1, sizeof *part, &part);
    if (status)
        return status;
    for (int32_t g = 0; !status && g < groups; g++) {
        part->count = 0;
        part->bridged = false;
        part->vertex = vertex[g];
        for (int32_t i = 0; i < smi->count; i++)
            if (smi->device[i].group == g)
                part->member[part->count++] = i;
        status = nvidia_smi_split(smi, part, NW_SMI_NODE);
    }
    free(part);
    return status;
}

static nw_status nvidia_smi_add_devices(struct nw_smi *smi, bool gpu,
                                        struct nw_device **info, int32_t *count)
{
    enum nw_vertex_kind kind = gpu ? NW_VERTEX_GPU : NW_VERTEX_NIC;
    int32_t class;
    nw_status status = nw_alloc((size_t)smi->count, sizeof **info, info);

    if (!status)
        status =
            nw_topology_class_of_rate(smi->topology, NW_LINK_PCIE, 0, &class);
    for (int32_t i = 0; !status && i < smi->count; i++) {
        struct nw_smi_device *device = &smi->device[i];
        const char *name = device->card ? device->card : device->name;

        if (device->gpu != gpu)
            continue;
        status = nw_node_type_add(smi->type, device->vertex, kind, class,
                                  &device->vertex);
        if (!status && !gpu)
            status = nw_strdup(name, &(*info)[*count].name);
        ++*count;
    }
    return status;
}

/* Finds or adds the class of `count` parallel NVLinks. The bandwidth is marked
 * as assumed, since the file does not name the generation. */
static nw_status links_class(struct nw_smi *smi, int32_t count, int32_t *class)
{
    struct nw_link_class figures = nw_link_assumed(NW_LINK_NVLINK);

    figures.bandwidth[0] = figures.bandwidth[1] = count * NVLINK_RATE;
    return nw_topology_class(smi->topology, &figures, class);
}

/* Sets `out` to the GPUs that NVLinks connect to GPU `first`, directly or
 * through other GPUs. */
static void smi_gather_linked(const struct nw_smi *smi, int32_t first,
                              bool *taken, struct nvidia_smi_part *out)
{
    out->count = 0;
    out->member[out->count++] = first;
    taken[first] = true;
    for (int32_t k = 0; k < out->count; k++)
        for (int32_t i = 0; i < smi->count; i++)
            if (smi->device[i].gpu && !taken[i] &&
                smi->links[out->member[k]][i]) {
                taken[i] = true;
                out->member[out->count++] = i;
            }
}

/* Returns the number of NVLinks from each GPU to the GPU switches, or 0 if the
 * GPUs are connected directly. There are switches if the file shows the same
 * number for all pairs, and a GPU would need more links to connect to all
 * others directly than it has. */
static int32_t smi_links_to_switch(const struct nw_smi *smi,
                                   const struct nvidia_smi_part *part)
{
    int32_t links = smi->links[part->member[0]][part->member[part->count - 1]];

    for (int32_t a = 0; a < part->count; a++)
        for (int32_t b = 0; b < part->count; b++)
            if (a != b && smi->links[part->member[a]][part->member[b]] != links)
                return 0;
    return links * (part->count - 1) > MOST_LINKS ? links : 0;
}

static nw_status smi_join_by_switch(struct nw_smi *smi,
                                    const struct nvidia_smi_part *part,
                                    int32_t links)
{
    int32_t pcie, class, vertex;
    nw_status status =
        nw_topology_class_of_rate(smi->topology, NW_LINK_PCIE, 0, &pcie);

    if (!status)
        status =
            nw_node_type_add(smi->type, 0, NW_VERTEX_GPU_SWITCH, pcie, &vertex);
    if (!status)
        status = links_class(smi, links, &class);
    for (int32_t k = 0; !status && k < part->count; k++)
        status = nw_node_type_add_direct(
            smi->type, smi->device[part->member[k]].vertex, vertex, class);
    return status;
}

static nw_status smi_link_pairs(struct nw_smi *smi,
                                const struct nvidia_smi_part *part)
{
    nw_status status = NW_OK;
    int32_t class;

    for (int32_t a = 0; !status && a < part->count; a++)
        for (int32_t b = 0; !status && b < part->count; b++) {
            int32_t i = part->member[a], j = part->member[b];

            if (i >= j || !smi->links[i][j])
                continue;
            status = links_class(smi, smi->links[i][j], &class);
            if (!status)
                status =
                    nw_node_type_add_direct(smi->type, smi->device[i].vertex,
                                            smi->device[j].vertex, class);
        }
    return status;
}

static nw_status nvidia_smi_join_gpus(struct nw_smi *smi)
{
    bool taken[NW_SMI_MAX] = {false};
    struct nvidia_smi_part *part;
    nw_status status = nw_alloc(1, sizeof *part, &part);

    for (int32_t i = 0; !status && i < smi->count; i++) {
        int32_t links;

        if (!smi->device[i].gpu || taken[i])
            continue;
        smi_gather_linked(smi, i, taken, part);
        links = part->count > 1 ? smi_links_to_switch(smi, part) : 0;
        status = links ? smi_join_by_switch(smi, part, links)
                       : smi_link_pairs(smi, part);
    }
    free(part);
    return status;
}

/* Builds a node type whose tree has each pair as close as the table says, if a
 * tree can, and adds the direct links. */
static nw_status nvidia_smi_build(struct nw_smi *smi)
{
    nw_status status = nvidia_smi_build_tree(smi);

    if (!status)
        status = nvidia_smi_add_devices(smi, true, &smi->type->gpu_device,
                                        &smi->type->gpu_count);
    if (!status)
        status = nvidia_smi_add_devices(smi, false, &smi->type->nic_device,
                                        &smi->type->nic_count);
    return status ? status : nvidia_smi_join_gpus(smi);
}

static nw_status nvidia_smi_read_file(struct nw_smi *smi,
                                      enum nw_elements elements)
{
    size_t length;
    char *text;
    nw_status status = nw_file_read_text(smi->file, &text, &length);

    if (status)
        return status;
    status = nw_smi_parse(smi, text);
    if (!status)
        status = nw_topology_new(smi->file, &smi->topology);
    if (!status) {
        smi->topology->elements = elements;
        status = nw_node_type_new(smi->topology, "node", &smi->type);
    }
    if (!status)
        status = nvidia_smi_build(smi);
    if (!status)
        status = nw_single_finish(smi->topology, smi->file, elements);
    free(text);
    return status;
}

nw_status nw_source_smi(const char *what, enum nw_elements elements,
                        nw_topology **out)
{
    struct nw_smi *smi;
    nw_status status = nw_alloc(1, sizeof *smi, &smi);

    if (status)
        return status;
    smi->file = what;
    status = nvidia_smi_read_file(smi, elements);
    if (status)
        nw_topology_free(smi->topology);
    else
        *out = smi->topology;
    free(smi);
    return status;
}

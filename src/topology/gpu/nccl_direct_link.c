/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads <nvlink>, <xgmi> and <c2c> below a <gpu>: the number of links and,
 * except for <c2c>, the address that they lead to. */
#include "base/status.h"
#include "base/text.h"
#include "topology/gpu/nccl.h"

#include <stdlib.h>
#include <string.h>

#define CLASS_SWITCH 0x0680
/* the PCI class that the file gives for a POWER processor at the end of an
 * NVLink */
#define CLASS_NPU 0x068001

/* A tag <nvlink> or <xgmi>: `count` parallel links to the address `target`. A
 * tag <c2c> has no target. */
struct link {
    const struct nw_xml *tag;
    const char *target;
    int32_t count;
    enum nw_link_kind kind;
    double rate; /* bytes/s of all `count` links together */
};

static nw_status read_link(const struct nw_nccl *nccl, const struct nw_xml *gpu,
                           const struct nw_xml *tag, struct link *link)
{
    const char *sm = nw_xml_get(gpu, "sm"), *count = nw_xml_get(tag, "count");
    bool nvlink = !strcmp(tag->tag, "nvlink");
    int32_t generation = 80;

    *link = (struct link){.tag = tag,
                          .target = nw_xml_get(tag, "target"),
                          .kind = nvlink ? NW_LINK_NVLINK : NW_LINK_XGMI};
    if (!link->target)
        return nw_fail(NW_EFORMAT, "%s:%d: <%s> has no target", nccl->file,
                       tag->line, tag->tag);
    if (!count || !nw_parse_i32(count, &link->count) || link->count < 1 ||
        link->count > 1024)
        return nw_fail(NW_EFORMAT,
                       "%s:%d: the count of a <%s> is a number from 1 to 1024",
                       nccl->file, tag->line, tag->tag);
    if (sm && !nw_parse_i32(sm, &generation))
        return nw_fail(NW_EFORMAT, "%s:%d: sm is a number, not '%.20s'",
                       nccl->file, gpu->line, sm);
    link->rate =
        link->count * (nvlink ? nw_nvlink_rate(generation)
                              : nw_link_assumed(NW_LINK_XGMI).bandwidth[0]);
    return NW_OK;
}

static const struct nw_xml *gpu_of(const struct nw_nccl_device *device)
{
    const struct nw_xml *gpu = device->pci->first;

    while (gpu && strcmp(gpu->tag, "gpu"))
        gpu = gpu->next;
    return device->kind == NW_VERTEX_GPU ? gpu : NULL;
}

static bool is_link(const struct nw_xml *tag)
{
    return !strcmp(tag->tag, "nvlink") || !strcmp(tag->tag, "xgmi");
}

static struct nw_nccl_device *nccl_direct_link_find(const struct nw_nccl *nccl,
                                                    const char *busid)
{
    for (size_t i = 0; i < nccl->count; i++)
        if (!strcasecmp(nccl->device[i].busid, busid))
            return &nccl->device[i];
    return NULL;
}

static unsigned long target_class(const struct nw_xml *tag)
{
    const char *class = nw_xml_get(tag, "tclass");

    return class ? strtoul(class, NULL, 16) >> 8 : 0;
}

static bool is_processor(const struct nw_xml *tag)
{
    const char *class = nw_xml_get(tag, "tclass");

    if (class && strtoul(class, NULL, 16) == CLASS_NPU)
        return true;
    return target_class(tag) >> 8 == 0x06 && target_class(tag) != CLASS_SWITCH;
}

/* Reads <c2c bw="44712" count="10"/>: `count` links of `bw` MB/s each between a
 * GPU and the processor on its board. Sets kind and rate of *link. */
static nw_status read_c2c(const struct nw_nccl *nccl, const struct nw_xml *tag,
                          struct link *link)
{
    const char *rate = nw_xml_get(tag, "bw"), *count = nw_xml_get(tag, "count");
    int32_t each;

    if (!rate || !count || !nw_parse_i32(rate, &each) || each < 1 ||
        !nw_parse_i32(count, &link->count) || link->count < 1)
        return nw_fail(NW_EFORMAT,
                       "%s:%d: bw and count of <c2c> are numbers from 1",
                       nccl->file, tag->line);
    link->kind = NW_LINK_NVLINK;
    link->rate = 1e6 * each * link->count;
    return NW_OK;
}

nw_status nw_nccl_join_processors(struct nw_nccl *nccl)
{
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < nccl->count; i++) {
        struct nw_nccl_device *device = &nccl->device[i];
        const struct nw_xml *gpu = gpu_of(device);
        struct link link;

        for (const struct nw_xml *tag = gpu ? gpu->first : NULL; !status && tag;
             tag = tag->next) {
            bool c2c = !strcmp(tag->tag, "c2c");

            if (!c2c && !(is_link(tag) && is_processor(tag)))
                continue;
            status = c2c ? read_c2c(nccl, tag, &link)
                         : read_link(nccl, gpu, tag, &link);
            if (status)
                break;
            device->parent = device->package;
            device->speed = link.rate;
            device->link = link.kind;
        }
    }
    return status;
}

/* Returns the number of links to `from` that the file lists below the GPU `to`.
 * Invalid entries count as 0; they are reported when `to` is read. */
static int64_t count_back(const struct nw_nccl_device *from,
                          const struct nw_nccl_device *to)
{
    const struct nw_xml *gpu = gpu_of(to);
    int64_t total = 0;
    int32_t count;

    for (const struct nw_xml *tag = gpu ? gpu->first : NULL; tag;
         tag = tag->next) {
        const char *target = nw_xml_get(tag, "target");
        const char *words = nw_xml_get(tag, "count");

        if (is_link(tag) && target && !strcasecmp(target, from->busid) &&
            words && nw_parse_i32(words, &count))
            total += count;
    }
    return total;
}

/* Finds or adds the class of parallel links. The bandwidth of xGMI is marked as
 * assumed, since the file does not name its generation. */
static nw_status nccl_direct_link_class(const struct nw_nccl *nccl,
                                        const struct link *link, int32_t *out)
{
    struct nw_link_class figures = nw_link_assumed(link->kind);

    figures.bandwidth[0] = figures.bandwidth[1] = link->rate;
    figures.assumed = link->kind == NW_LINK_XGMI;
    return nw_topology_class(nccl->topology, &figures, out);
}

static nw_status nccl_direct_link_join_gpus(struct nw_nccl *nccl,
                                            const struct nw_nccl_device *from,
                                            const struct nw_nccl_device *to,
                                            const struct link *link)
{
    int64_t back = count_back(from, to);
    int32_t class;
    nw_status status;

    if (back != link->count)
        return nw_fail(
            NW_EFORMAT,
            "%s:%d: not symmetric: %d link%s from '%s' to '%s', %lld back",
            nccl->file, link->tag->line, link->count,
            nw_plural((uint64_t)link->count), from->busid, to->busid,
            (long long)back);
    if (from->vertex >= to->vertex)
        return NW_OK;
    status = nccl_direct_link_class(nccl, link, &class);
    return status ? status
                  : nw_node_type_add_direct(nccl->type, from->vertex,
                                            to->vertex, class);
}

/* If *vertex is -1, adds the node's only GPU switch and sets *vertex to it; see
 * gpu/switch.c. */
static nw_status find_switch(struct nw_nccl *nccl, int32_t *vertex)
{
    int32_t class;
    nw_status status = NW_OK;

    if (*vertex < 0)
        status =
            nw_topology_class_of_rate(nccl->topology, NW_LINK_PCIE, 0, &class);
    if (!status && *vertex < 0)
        status = nw_node_type_add(nccl->type, 0, NW_VERTEX_GPU_SWITCH, class,
                                  vertex);
    return status;
}

static nw_status nccl_direct_link_add_link(struct nw_nccl *nccl,
                                           int32_t *middle,
                                           const struct nw_nccl_device *from,
                                           const struct link *link)
{
    const struct nw_nccl_device *to = nccl_direct_link_find(nccl, link->target);
    int32_t class;
    nw_status status;

    if (to && to->kind == NW_VERTEX_GPU)
        return nccl_direct_link_join_gpus(nccl, from, to, link);
    if (target_class(link->tag) != CLASS_SWITCH || is_processor(link->tag))
        return NW_OK; /* the link leads to a processor, or to a GPU that the
                         file does not list */
    status = find_switch(nccl, middle);
    if (!status)
        status = nccl_direct_link_class(nccl, link, &class);
    return status ? status
                  : nw_node_type_add_direct(nccl->type, from->vertex, *middle,
                                            class);
}

static nw_status check_doubled(const struct nw_nccl *nccl,
                               const struct nw_xml *tag)
{
    const char *target = nw_xml_get(tag, "target");

    for (const struct nw_xml *next = tag->next; next; next = next->next) {
        const char *other = nw_xml_get(next, "target");

        if (is_link(next) && target && other && !strcasecmp(target, other))
            return nw_fail(NW_EFORMAT, "%s:%d: links to '%s' are given twice",
                           nccl->file, next->line, other);
    }
    return NW_OK;
}

/* Returns true if a link of a GPU leads to this GPU itself. Virtual machines
 * write such links for peers that they hide. */
static bool leads_to(const struct link *link, const struct nw_nccl_device *gpu)
{
    return !strcasecmp(link->target, gpu->busid);
}

nw_status nw_nccl_direct(struct nw_nccl *nccl)
{
    int32_t middle = -1;
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < nccl->count; i++) {
        const struct nw_xml *gpu = gpu_of(&nccl->device[i]);
        struct link link;

        for (const struct nw_xml *tag = gpu ? gpu->first : NULL; !status && tag;
             tag = tag->next) {
            if (!is_link(tag))
                continue;
            status = read_link(nccl, gpu, tag, &link);
            if (!status && leads_to(&link, &nccl->device[i]))
                continue;
            if (!status)
                status = check_doubled(nccl, tag);
            if (!status)
                status = nccl_direct_link_add_link(nccl, &middle,
                                                   &nccl->device[i], &link);
        }
    }
    return status;
}

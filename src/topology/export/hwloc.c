/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes one node as XML of hwloc 2, which hwloc 3 reads, too. Processors have
 * sets of their hardware threads and NUMA nodes. Devices are children of
 * processors. NVLink, xGMI and Xe Link are matrices of bandwidths between
 * devices. The file is written as text, so that it does not depend on the hwloc
 * that is installed.
 */
#include "base/array.h"
#include "base/status.h"
#include "topology/export/export.h"
#include "topology/export/groups.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file while it is written. */
struct hwloc_file {
    struct nw_export *export;
    const struct nw_node_type *type;
    struct nw_groups below; /* the children of each vertex in the tree of the
                               node type */
    /* threads of core c: thread[first[c]] to thread[first[c + 1] - 1] */
    int32_t *first, *thread;
    /* [vertex] number of the NUMA node that is written for it; -1: none */
    int32_t *memory;
    int32_t memory_count, thread_end;
    /* The sets of the object that is written next: in[t] says whether it
     * contains hardware thread t (below thread_end), near[m] whether NUMA node
     * m (below memory_count) is inside or around it. */
    bool *in;
    bool *near;
    int depth;
    /* number of PCI addresses invented so far */
    int invented;
};

/* Returns a number that is unique in the file. Part 0 is vertex v itself, part
 * 1 is its NUMA node or operating system device. Hardware threads have the
 * numbers from hwloc_id(file, 0, 2) on. */
static int64_t hwloc_id(const struct hwloc_file *file, int32_t v, int part)
{
    return 1 + v + (int64_t)part * file->type->vertex_count;
}

static void hwloc_indent(const struct hwloc_file *file)
{
    nw_text_format(&file->export->text, "%*s", 2 * file->depth, "");
}

/* Appends text to the value of an attribute, with &, < and double quotes
 * escaped. Control characters become blanks. */
static void hwloc_add_words(struct nw_text *text, const char *words)
{
    for (; *words; words++)
        switch (*words) {
        case '&':
            nw_text_add(text, "&amp;");
            break;
        case '<':
            nw_text_add(text, "&lt;");
            break;
        case '"':
            nw_text_add(text, "&quot;");
            break;
        default:
            nw_text_add_bytes(text, (unsigned char)*words < ' ' ? " " : words,
                              1);
        }
}

static bool hwloc_is_inside(const struct hwloc_file *file, int32_t v,
                            int32_t around)
{
    return nw_node_type_common(file->type, v, around) == around;
}

/* --- sets --- */

/* Appends a set of bits as hwloc writes it: words of 32 bits in hexadecimal,
 * the highest first. */
static void hwloc_add_set(struct nw_text *text, const char *name,
                          const bool *bit, int32_t size)
{
    int32_t words = 1;

    for (int32_t i = 0; i < size; i++)
        if (bit[i])
            words = i / 32 + 1;
    nw_text_format(text, " %s=\"", name);
    for (int32_t w = words - 1; w >= 0; w--) {
        uint32_t value = 0;

        for (int32_t i = 32 * w; i < 32 * w + 32 && i < size; i++)
            value |= bit[i] ? 1u << i % 32 : 0;
        nw_text_format(text, "0x%08x%s", value, w ? "," : "\"");
    }
}

static void hwloc_add_sets(const struct hwloc_file *file, bool machine)
{
    static const char *const names[3] = {"", "complete_", "allowed_"};
    char name[24];

    for (int i = 0; i < 2 + machine; i++) {
        snprintf(name, sizeof name, "%scpuset", names[i]);
        hwloc_add_set(&file->export->text, name, file->in, file->thread_end);
        snprintf(name, sizeof name, "%snodeset", names[i]);
        hwloc_add_set(&file->export->text, name, file->near,
                      file->memory_count);
    }
}

/* Sets file->in to the threads inside vertex v, and file->near to the NUMA
 * nodes inside or around it. */
static void hwloc_find_sets(const struct hwloc_file *file, int32_t v)
{
    const struct nw_node_type *type = file->type;

    memset(file->in, 0, (size_t)file->thread_end * sizeof *file->in);
    memset(file->near, 0, (size_t)file->memory_count * sizeof *file->near);
    for (int32_t c = 0; c < type->core_count; c++)
        for (int32_t t = file->first[c];
             t < file->first[c + 1] && hwloc_is_inside(file, type->core[c], v);
             t++)
            file->in[file->thread[t]] = true;
    for (int32_t u = 0; u < type->vertex_count; u++)
        if (file->memory[u] >= 0 &&
            (hwloc_is_inside(file, u, v) || hwloc_is_inside(file, v, u)))
            file->near[file->memory[u]] = true;
}

/* --- processors --- */

/* Begins the tag of an object; the caller adds its attributes, and then
 * hwloc_end_single or hwloc_close ends the object. */
static void hwloc_open(struct hwloc_file *file, const char *type, int64_t id)
{
    hwloc_indent(file);
    nw_text_format(&file->export->text, "<object type=\"%s\" gp_index=\"%lld\"",
                   type, (long long)id);
    file->depth++;
}

static void hwloc_close(struct hwloc_file *file)
{
    file->depth--;
    hwloc_indent(file);
    nw_text_add(&file->export->text, "</object>\n");
}

static void hwloc_end_single(struct hwloc_file *file)
{
    file->depth--;
    nw_text_add(&file->export->text, "/>\n");
}

static void hwloc_add_memory(struct hwloc_file *file, int32_t v)
{
    hwloc_open(file, "NUMANode", hwloc_id(file, v, 1));
    nw_text_format(&file->export->text, " os_index=\"%d\"", file->memory[v]);
    memset(file->near, 0, (size_t)file->memory_count * sizeof *file->near);
    file->near[file->memory[v]] = true;
    hwloc_add_sets(file, false);
    nw_text_add(&file->export->text, " local_memory=\"0\"");
    hwloc_end_single(file);
}

static void hwloc_add_threads(struct hwloc_file *file, int32_t core)
{
    int32_t c = file->type->index[core];

    for (int32_t t = file->first[c]; t < file->first[c + 1]; t++) {
        memset(file->in, 0, (size_t)file->thread_end * sizeof *file->in);
        file->in[file->thread[t]] = true;
        hwloc_open(file, "PU", hwloc_id(file, 0, 2) + t);
        nw_text_format(&file->export->text, " os_index=\"%d\"",
                       file->thread[t]);
        hwloc_add_sets(file, false);
        hwloc_end_single(file);
    }
}

static void hwloc_add_devices(struct hwloc_file *file, int32_t v);

static void hwloc_add_attributes(struct hwloc_file *file, int32_t v)
{
    struct nw_text *text = &file->export->text;
    const struct nw_node_type *type = file->type;
    int32_t i = type->index[v];

    switch (type->kind[v]) {
    case NW_VERTEX_PACKAGE:
    case NW_VERTEX_NODE:
    case NW_VERTEX_DIE:
        nw_text_format(text, " os_index=\"%d\"", i);
        break;
    case NW_VERTEX_CORE:
        nw_text_format(text, " os_index=\"%d\"",
                       type->core_os ? type->core_os[i] : i);
        break;
    case NW_VERTEX_L3:
    case NW_VERTEX_L2:
        nw_text_format(text,
                       " cache_size=\"0\" depth=\"%d\" cache_linesize=\"0\" "
                       "cache_associativity=\"0\" cache_type=\"0\"",
                       type->kind[v] == NW_VERTEX_L3 ? 3 : 2);
        break;
    case NW_VERTEX_NUMA:
        nw_text_add(text, " kind=\"1001\" subkind=\"0\"");
        break;
    default:
        break;
    }
    hwloc_find_sets(file, v);
    hwloc_add_sets(file, v == 0);
}

/* Returns hwloc's name for a kind of processor vertex; NULL for devices,
 * bridges and hardware threads. */
static const char *hwloc_name_of(uint8_t kind)
{
    static const char *const names[NW_VERTEX_KIND_COUNT] = {
        [NW_VERTEX_NODE] = "Machine", [NW_VERTEX_PACKAGE] = "Package",
        [NW_VERTEX_DIE] = "Die",      [NW_VERTEX_NUMA] = "Group",
        [NW_VERTEX_L3] = "L3Cache",   [NW_VERTEX_L2] = "L2Cache",
        [NW_VERTEX_CORE] = "Core"};

    return names[kind];
}

static void hwloc_add_info(struct hwloc_file *file, const char *name,
                           const char *value)
{
    if (!value)
        return;
    hwloc_indent(file);
    nw_text_format(&file->export->text, "<info name=\"%s\" value=\"", name);
    hwloc_add_words(&file->export->text, value);
    nw_text_add(&file->export->text, "\"/>\n");
}

/* Writes the name of the host: the one that the user gave, or that of the only
 * node. If the topology has several nodes and no name is given, none is
 * written. */
static void hwloc_add_host(struct hwloc_file *file)
{
    const nw_topology *t = file->export->topology;
    const char *host = file->export->options->host;

    hwloc_add_info(file, "HostName",
                   host                 ? host
                   : t->node_count == 1 ? t->node_name[0]
                                        : NULL);
}

static void hwloc_add_processor(struct hwloc_file *file, int32_t v)
{
    const struct nw_groups *below = &file->below;

    hwloc_open(file, hwloc_name_of(file->type->kind[v]), hwloc_id(file, v, 0));
    hwloc_add_attributes(file, v);
    nw_text_add(&file->export->text, ">\n");
    if (v == 0)
        hwloc_add_host(file);
    if (file->memory[v] >= 0)
        hwloc_add_memory(file, v);
    if (file->type->kind[v] == NW_VERTEX_CORE)
        hwloc_add_threads(file, v);
    for (int32_t i = below->first[v]; i < below->first[v + 1]; i++)
        if (hwloc_name_of(file->type->kind[below->item[i]]))
            hwloc_add_processor(file, below->item[i]);
    hwloc_add_devices(file, v);
    hwloc_close(file);
}

/* --- devices --- */

static const struct nw_link_class *hwloc_class(const struct hwloc_file *file,
                                               int32_t class)
{
    return &file->export->topology->class[class];
}

/* Writes the bandwidth of the link to the parent in GB/s; 0 if it is assumed or
 * the link is not PCIe. */
static void hwloc_add_speed(struct hwloc_file *file, int32_t v)
{
    const struct nw_link_class *link = hwloc_class(file, file->type->class[v]);
    double rate = link->assumed || link->kind != NW_LINK_PCIE
                      ? 0
                      : link->bandwidth[0] / 1e9;

    nw_text_format(&file->export->text, " pci_link_speed=\"%.9g\"", rate);
}

/* Writes the device's PCI address, or an invented one that no real system uses
 * if the address is unknown. */
static void hwloc_add_address(struct hwloc_file *file, const char *pci)
{
    int n = file->invented;

    if (pci) {
        nw_text_format(&file->export->text, " pci_busid=\"%s\"", pci);
        return;
    }
    nw_text_format(&file->export->text, " pci_busid=\"%04x:%02x:00.0\"",
                   0x1000 + n / 256, n % 256);
    file->invented++;
}

static const struct nw_device *hwloc_device(const struct hwloc_file *file,
                                            int32_t v)
{
    static const struct nw_device none;
    const struct nw_node_type *type = file->type;
    const struct nw_device *all =
        type->kind[v] == NW_VERTEX_GPU ? type->gpu_device : type->nic_device;

    return all ? &all[type->index[v]] : &none;
}

static bool hwloc_has_kind(const struct hwloc_file *file,
                           enum nw_link_kind kind)
{
    for (int32_t d = 0; d < file->type->direct_count; d++)
        if (hwloc_class(file, file->type->direct[d].class)->kind == kind)
            return true;
    return false;
}

/* How hwloc shows the GPUs of a vendor. */
struct hwloc_vendor {
    enum nw_link_kind link;
    const char *id, *class; /* PCI vendor and class */
    const char *device, *subtype, *uuid;
};

/* Returns the vendor of the node's GPUs, which follows from their direct links:
 * AMD for xGMI, Intel for Xe Link, otherwise NVIDIA. */
static const struct hwloc_vendor *hwloc_vendor_of(const struct hwloc_file *file)
{
    static const struct hwloc_vendor vendors[] = {
        {NW_LINK_XGMI, "1002", "0302", "rsmi", "RSMI", "AMDUUID"},
        {NW_LINK_XELINK, "8086", "0380", "ze", "LevelZero", "LevelZeroUUID"},
        {NW_LINK_NVLINK, "10de", "0302", "nvml", "NVML", "NVIDIAUUID"},
    };
    size_t i = 0;

    while (vendors[i].link != NW_LINK_NVLINK &&
           !hwloc_has_kind(file, vendors[i].link))
        i++;
    return &vendors[i];
}

/* Writes the operating system's device of a GPU. hwloc's matrices of bandwidths
 * refer to this device. */
static void hwloc_add_system_gpu(struct hwloc_file *file, int32_t v)
{
    const struct nw_device *device = hwloc_device(file, v);
    const struct hwloc_vendor *vendor = hwloc_vendor_of(file);

    hwloc_open(file, "OSDev", hwloc_id(file, v, 1));
    nw_text_format(&file->export->text,
                   " name=\"%s%d\" subtype=\"%s\" osdev_type=\"1\">\n",
                   vendor->device, file->type->index[v], vendor->subtype);
    hwloc_add_info(file, "GPUModel", device->name);
    hwloc_add_info(file, vendor->uuid, device->uuid);
    hwloc_close(file);
}

/* Returns true if vertex v has an operating system device in the file: a GPU,
 * or a NIC with a name. */
static bool hwloc_has_system_device(const struct hwloc_file *file, int32_t v)
{
    uint8_t kind = file->type->kind[v];

    return kind == NW_VERTEX_GPU ||
           (kind == NW_VERTEX_NIC && hwloc_device(file, v)->name);
}

static void hwloc_add_system_nic(struct hwloc_file *file, int32_t v)
{
    hwloc_open(file, "OSDev", hwloc_id(file, v, 1));
    nw_text_add(&file->export->text, " name=\"");
    hwloc_add_words(&file->export->text, hwloc_device(file, v)->name);
    nw_text_add(&file->export->text, "\" osdev_type=\"3\"");
    hwloc_end_single(file);
}

/* Returns true if `other` is a GPU with the same PCI address as v: partitions
 * of one GPU share its address. */
static bool hwloc_is_partition(const struct hwloc_file *file, int32_t v,
                               int32_t other)
{
    const char *a = hwloc_device(file, v)->pci;
    const char *b = hwloc_device(file, other)->pci;

    return file->type->kind[other] == NW_VERTEX_GPU && a && b && !strcmp(a, b);
}

static void hwloc_add_pci(struct hwloc_file *file, int32_t v)
{
    const struct nw_node_type *type = file->type;
    bool gpu = type->kind[v] == NW_VERTEX_GPU;
    const struct hwloc_vendor *vendor = hwloc_vendor_of(file);

    hwloc_open(file, "PCIDev", hwloc_id(file, v, 0));
    hwloc_add_address(file, hwloc_device(file, v)->pci);
    nw_text_format(&file->export->text,
                   " pci_type=\"%s [%s:0000] [0000:0000] 00\"",
                   gpu ? vendor->class : "0207", gpu ? vendor->id : "0000");
    hwloc_add_speed(file, v);
    nw_text_add(&file->export->text, ">\n");
    for (int32_t g = 0; gpu && g < type->gpu_count; g++)
        if (type->gpu[g] == v || hwloc_is_partition(file, v, type->gpu[g]))
            hwloc_add_system_gpu(file, type->gpu[g]);
    if (!gpu && hwloc_has_system_device(file, v))
        hwloc_add_system_nic(file, v);
    hwloc_close(file);
}

/* Writes a bridge and the devices below it: a host bridge if its link to the
 * parent is not PCIe but memory, otherwise a PCIe switch. */
static void hwloc_add_bridge(struct hwloc_file *file, int32_t v)
{
    bool host = hwloc_class(file, file->type->class[v])->kind == NW_LINK_MEMORY;

    hwloc_open(file, "Bridge", hwloc_id(file, v, 0));
    nw_text_format(&file->export->text,
                   " bridge_type=\"%d-1\" depth=\"%d\" "
                   "bridge_pci=\"0000:[00-ff]\"",
                   !host, host ? 0 : 1);
    if (!host) {
        nw_text_format(&file->export->text,
                       " pci_busid=\"2000:%02x:%02x.0\" "
                       "pci_type=\"0604 [0000:0000] [0000:0000] 00\"",
                       v / 32 % 256, v % 32);
        hwloc_add_speed(file, v);
    }
    nw_text_add(&file->export->text, ">\n");
    hwloc_add_devices(file, v);
    hwloc_close(file);
}

/* Returns true if a GPU with a lower number has the same PCI address, so that
 * its entry contains this partition. */
static bool hwloc_is_written(const struct hwloc_file *file, int32_t v)
{
    for (int32_t g = 0; g < file->type->index[v]; g++)
        if (hwloc_is_partition(file, v, file->type->gpu[g]))
            return true;
    return false;
}

static void hwloc_add_devices(struct hwloc_file *file, int32_t v)
{
    for (int32_t i = file->below.first[v]; i < file->below.first[v + 1]; i++) {
        int32_t c = file->below.item[i];

        switch (file->type->kind[c]) {
        case NW_VERTEX_BRIDGE:
        case NW_VERTEX_BOARD:
            hwloc_add_bridge(file, c);
            break;
        case NW_VERTEX_GPU:
            if (!hwloc_is_written(file, c))
                hwloc_add_pci(file, c);
            break;
        case NW_VERTEX_NIC:
            hwloc_add_pci(file, c);
            break;
        case NW_VERTEX_GPU_SWITCH:
            hwloc_open(file, "PCIDev", hwloc_id(file, c, 0));
            nw_text_format(&file->export->text,
                           " subtype=\"NVSwitch\" pci_busid=\"3000:00:%02x.0\" "
                           "pci_type=\"0680 [10de:0000] [0000:0000] 00\" "
                           "pci_link_speed=\"0\"",
                           file->type->index[c] % 32);
            hwloc_end_single(file);
            break;
        default:
            break;
        }
    }
}

/* --- matrices of bandwidths --- */

/* The rows of a matrix: vertices that links of one kind connect. */
struct hwloc_ends {
    int32_t *number; /* [vertex] row of the vertex in the matrix; -1: none */
    int32_t *vertex;
    int32_t count;
};

/* Marks v as a row of the matrix. hwloc_take_ends numbers the rows later in the
 * order of the vertices, in which GPUs come before GPU switches. */
static void hwloc_mark_end(struct hwloc_ends *ends, int32_t v)
{
    ends->number[v] = 0;
}

static void hwloc_take_ends(const struct hwloc_file *file,
                            enum nw_link_kind kind, struct hwloc_ends *ends)
{
    const struct nw_node_type *type = file->type;

    for (int32_t v = 0; v < type->vertex_count; v++)
        ends->number[v] = -1;
    for (int32_t d = 0; d < type->direct_count; d++)
        if (hwloc_class(file, type->direct[d].class)->kind == kind) {
            hwloc_mark_end(ends, type->direct[d].a);
            hwloc_mark_end(ends, type->direct[d].b);
        }
    for (int32_t g = 0; g < type->gpu_count; g++)
        if (hwloc_class(file, type->class[type->gpu[g]])->kind == kind) {
            hwloc_mark_end(ends, type->gpu[g]);
            hwloc_mark_end(ends, type->parent[type->gpu[g]]);
        }
    for (int32_t v = 0; v < type->vertex_count; v++)
        if (ends->number[v] >= 0) {
            ends->vertex[ends->count] = v;
            ends->number[v] = ends->count++;
        }
}

static void hwloc_fill(const struct hwloc_file *file, enum nw_link_kind kind,
                       const struct hwloc_ends *ends, uint64_t *value)
{
    const struct nw_node_type *type = file->type;
    size_t n = (size_t)ends->count;
    double unit = nw_link_hwloc_unit(kind);

    for (int32_t i = 0; i < type->gpu_count + type->direct_count; i++) {
        bool direct = i >= type->gpu_count;
        const struct nw_direct_link *link =
            direct ? &type->direct[i - type->gpu_count] : NULL;
        int32_t a = direct ? link->a : type->gpu[i];
        int32_t b = direct ? link->b : type->parent[a];
        const struct nw_link_class *rate =
            hwloc_class(file, direct ? link->class : type->class[a]);
        size_t x, y;

        if (rate->kind != kind)
            continue;
        x = (size_t)ends->number[a];
        y = (size_t)ends->number[b];
        value[x * n + y] = (uint64_t)llround(rate->bandwidth[0] / unit);
        value[y * n + x] = (uint64_t)llround(rate->bandwidth[1] / unit);
    }
}

static void hwloc_add_block(struct hwloc_file *file, const char *tag,
                            struct nw_text *words)
{
    nw_text_format(&file->export->text, "    <%s length=\"%zu\">%s</%s>\n", tag,
                   words->length, words->data ? words->data : "", tag);
    words->length = 0;
}

static void hwloc_add_matrix(struct hwloc_file *file, const char *name,
                             const struct hwloc_ends *ends,
                             const uint64_t *value)
{
    struct nw_text words = {0};
    size_t n = (size_t)ends->count;

    nw_text_format(&file->export->text,
                   "  <distances2hetero nbobjs=\"%zu\" kind=\"25\" "
                   "name=\"%s\">\n",
                   n, name);
    for (size_t i = 0; i < n; i++) {
        int32_t v = ends->vertex[i];
        uint8_t kind = file->type->kind[v];
        bool system = hwloc_has_system_device(file, v);
        const char *object =
            system ? "OSDev"
            : kind == NW_VERTEX_NIC || kind == NW_VERTEX_GPU_SWITCH
                ? "PCIDev"
                : hwloc_name_of(kind);

        nw_text_format(&words, "%s:%lld ", object,
                       (long long)hwloc_id(file, v, system));
    }
    hwloc_add_block(file, "indexes", &words);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            nw_text_format(&words, "%llu ",
                           (unsigned long long)value[i * n + j]);
        hwloc_add_block(file, "u64values", &words);
    }
    nw_text_add(&file->export->text, "  </distances2hetero>\n");
    nw_text_fini(&words);
}

static nw_status hwloc_add_links(struct hwloc_file *file, const char *name,
                                 enum nw_link_kind kind)
{
    size_t n = (size_t)file->type->vertex_count;
    struct hwloc_ends ends = {0};
    uint64_t *value = NULL;
    nw_status status = nw_alloc(n, sizeof *ends.number, &ends.number);

    if (!status)
        status = nw_alloc(n, sizeof *ends.vertex, &ends.vertex);
    if (!status)
        hwloc_take_ends(file, kind, &ends);
    if (!status)
        status = nw_alloc((size_t)ends.count * (size_t)ends.count,
                          sizeof *value, &value);
    if (!status && ends.count) {
        hwloc_fill(file, kind, &ends, value);
        hwloc_add_matrix(file, name, &ends, value);
    }
    free(value);
    free(ends.number);
    free(ends.vertex);
    return status;
}

/* --- the file --- */

/* Numbers the hardware threads: by the operating system's numbers if they are
 * known, otherwise from 0 in logical order. */
static nw_status hwloc_number_threads(struct hwloc_file *file)
{
    const struct nw_node_type *type = file->type;
    bool known = type->core_pu && type->pu_os;
    size_t cores = (size_t)type->core_count, count;
    nw_status status = nw_alloc(cores + 1, sizeof *file->first, &file->first);

    for (int32_t c = 0; !status && c < type->core_count; c++) {
        int32_t own = 0;

        for (int32_t p = 0; !known && p < type->pu_count; p++)
            own += type->parent[type->pu[p]] == type->core[c];
        if (known)
            own = type->core_pu[c + 1] - type->core_pu[c];
        file->first[c + 1] = file->first[c] + (own > 0 ? own : 1);
    }
    count = status ? 0 : (size_t)file->first[cores];
    if (!status)
        status = nw_alloc(count, sizeof *file->thread, &file->thread);
    for (size_t t = 0; !status && t < count; t++) {
        file->thread[t] = known ? type->pu_os[t] : (int32_t)t;
        if (file->thread[t] >= file->thread_end)
            file->thread_end = file->thread[t] + 1;
    }
    return status;
}

/* Returns true if a NUMA node is written for v: a NUMA vertex, a package
 * without NUMA vertices, or a node with neither packages nor NUMA vertices.
 * hwloc needs a NUMA node near each core. */
static bool hwloc_has_memory(const struct hwloc_file *file, int32_t v)
{
    const struct nw_node_type *type = file->type;
    uint8_t kind = type->kind[v];

    if (kind == NW_VERTEX_NUMA)
        return true;
    if (kind != NW_VERTEX_PACKAGE && kind != NW_VERTEX_NODE)
        return false;
    for (int32_t u = 0; u < type->vertex_count; u++)
        if (u != v &&
            (type->kind[u] == NW_VERTEX_NUMA ||
             type->kind[u] == NW_VERTEX_PACKAGE) &&
            hwloc_is_inside(file, u, v))
            return false;
    return true;
}

static nw_status hwloc_prepare(struct hwloc_file *file)
{
    const struct nw_node_type *type = file->type;
    size_t n = (size_t)type->vertex_count;
    nw_status status = nw_groups_make(type->parent, type->vertex_count,
                                      type->vertex_count, &file->below);

    if (!status)
        status = hwloc_number_threads(file);
    if (!status)
        status = nw_alloc(n, sizeof *file->memory, &file->memory);
    for (int32_t v = 0; !status && v < type->vertex_count; v++)
        file->memory[v] = hwloc_has_memory(file, v) ? file->memory_count++ : -1;
    if (!status)
        status =
            nw_alloc((size_t)file->thread_end, sizeof *file->in, &file->in);
    if (!status)
        status = nw_alloc((size_t)file->memory_count, sizeof *file->near,
                          &file->near);
    return status;
}

static void hwloc_fini(struct hwloc_file *file)
{
    free(file->first);
    free(file->thread);
    free(file->memory);
    free(file->in);
    free(file->near);
    nw_groups_fini(&file->below);
}

/* --- what is lost --- */

static int32_t hwloc_cores_in(const struct hwloc_file *file, int32_t v)
{
    int32_t count = 0;

    for (int32_t c = 0; c < file->type->core_count; c++)
        count += hwloc_is_inside(file, file->type->core[c], v);
    return count;
}

/* Returns true if the tree has a die, NUMA node or cache with fewer than two
 * cores or with all cores of its parent. Readers drop such a level. */
static bool hwloc_loses_level(const struct hwloc_file *file)
{
    const struct nw_node_type *type = file->type;

    for (int32_t v = 1; v < type->vertex_count; v++) {
        uint8_t kind = type->kind[v];
        int32_t cores;

        if (kind != NW_VERTEX_DIE && kind != NW_VERTEX_NUMA &&
            kind != NW_VERTEX_L3 && kind != NW_VERTEX_L2)
            continue;
        cores = hwloc_cores_in(file, v);
        if (cores < 2 || cores == hwloc_cores_in(file, type->parent[v]))
            return true;
    }
    return false;
}

/* Returns true if a host bridge has no children, or a PCIe switch or board
 * fewer than two. Readers drop such bridges. */
static bool hwloc_loses_switch(const struct hwloc_file *file)
{
    const struct nw_node_type *type = file->type;

    for (int32_t v = 1; v < type->vertex_count; v++) {
        uint8_t link = hwloc_class(file, type->class[v])->kind;

        if ((type->kind[v] == NW_VERTEX_BRIDGE ||
             type->kind[v] == NW_VERTEX_BOARD) &&
            nw_groups_count(&file->below, v) <
                (link == NW_LINK_MEMORY ? 1u : 2u))
            return true;
    }
    return false;
}

static bool hwloc_has_vertex(const struct hwloc_file *file,
                             enum nw_vertex_kind kind)
{
    for (int32_t v = 0; v < file->type->vertex_count; v++)
        if (file->type->kind[v] == kind)
            return true;
    return false;
}

/* Returns true if a latency is not the assumed one, or if the bandwidth of a
 * link inside a processor is known. hwloc's format has neither. */
static bool hwloc_has_figures(const struct hwloc_file *file)
{
    const nw_topology *t = file->export->topology;

    for (int32_t c = 0; c < t->class_count; c++) {
        const struct nw_link_class *link = &t->class[c];
        struct nw_link_class assumed =
            nw_link_assumed((enum nw_link_kind)link->kind);

        if (link->latency != assumed.latency ||
            (!link->assumed && link->kind < NW_LINK_PCIE))
            return true;
    }
    return false;
}

static void hwloc_lose(struct hwloc_file *file)
{
    const struct nw_node_type *type = file->type;
    const struct {
        bool is;
        const char *what;
    } lost[] = {
        {hwloc_has_figures(file),
         "latencies and the rates of links inside processors"},
        {hwloc_loses_level(file), "levels that divide no cores"},
        {hwloc_loses_switch(file), "PCIe switches with fewer than two devices"},
        {hwloc_has_vertex(file, NW_VERTEX_BOARD),
         "boards (PCIe switches instead)"},
        {file->invented > 0,
         "that PCI addresses are unknown (invented ones are written)"},
        {!type->core_pu,
         "that numbers of cores are unknown (numbers in order are written)"},
        {type->staged || type->pxn, "how GPU messages leave the node"},
    };

    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
        if (lost[i].is)
            nw_export_lose(file->export, "%s", lost[i].what);
}

nw_status nw_export_hwloc(struct nw_export *export)
{
    struct hwloc_file file = {.export = export, .depth = 1};
    nw_status status = nw_export_one_node(export, &file.type);

    if (!status)
        status = hwloc_prepare(&file);
    nw_text_add(&export->text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                               "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
                               "<topology version=\"2.0\">\n");
    if (!status) {
        hwloc_add_processor(&file, 0);
        status = hwloc_add_links(&file, "NVLinkBandwidth", NW_LINK_NVLINK);
    }
    if (!status)
        status = hwloc_add_links(&file, "XGMIBandwidth", NW_LINK_XGMI);
    if (!status)
        status = hwloc_add_links(&file, "XeLinkBandwidth", NW_LINK_XELINK);
    nw_text_add(&export->text, "</topology>\n");
    if (!status)
        hwloc_lose(&file);
    hwloc_fini(&file);
    return status;
}

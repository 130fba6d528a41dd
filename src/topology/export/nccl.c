/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a topology file of NCCL and RCCL for one node, for example for a
 * virtual machine that hides the PCIe tree. NCCL looks GPUs and NICs up by
 * their PCI addresses, and asks the system for every attribute that the file
 * lacks. So the file has the data that the system may hide: processors, PCIe
 * switches, and NVLinks. The PCIe switches have addresses that no device has.
 * NCCL's parser accepts no XML declaration and no tabs, and needs exactly one
 * blank before each attribute.
 */
#include "base/array.h"
#include "base/status.h"
#include "topology/export/export.h"
#include "topology/export/groups.h"
#include "topology/gpu/pcie.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SWITCH_TARGET "fffffff:ffff:ff" /* a hidden GPU switch in NCCL */
#define NVLINK_4_MOST 450e9             /* bytes/s of 18 links of 25 GB/s */

/* The file while it is written. */
struct nccl_file {
    struct nw_export *export;
    const struct nw_node_type *type;
    struct nw_groups below; /* the children of each vertex in the tree of the
                               node type */
    bool *processor;        /* [vertex] true if it is written as a <cpu> */
    /* PCI addresses of GPUs and NICs, as NCCL writes them */
    char **gpu, **nic;
    /* depth of the tag that is being written */
    int depth;
    int bridges; /* number of bridges written so far */
    /* how often the file omits or changes a property of the machine, by kind of
     * property */
    int odd_cores, odd_links, odd_rates, one_way, host_bridges, far_devices,
        assumed_switches, assumed_nvlinks;
};

static void nccl_indent(struct nccl_file *file)
{
    nw_text_format(&file->export->text, "%*s", 2 * file->depth, "");
}

/* --- addresses --- */

/* Copies a PCI address in NCCL's form, since NCCL compares addresses as text:
 * four digits of domain, lower case. */
static nw_status nccl_address(const char *pci, char **out)
{
    size_t domain = strcspn(pci, ":");
    nw_status status = nw_strdup(domain == 8 ? pci + 4 : pci, out);

    for (char *at = status ? NULL : *out; at && *at; at++)
        *at = (char)tolower((unsigned char)*at);
    return status;
}

/* Returns the device of `there` that corresponds to device i of `here`: the one
 * with the same UUID, otherwise the one with the same number; NULL without
 * `there`. */
static const struct nw_device *nccl_match(const struct nw_device *here,
                                          const struct nw_device *there,
                                          int32_t count, int32_t i)
{
    for (int32_t k = 0; here && here[i].uuid && there && k < count; k++)
        if (there[k].uuid && !strcmp(here[i].uuid, there[k].uuid))
            return &there[k];
    return there ? &there[i] : NULL;
}

/* Finds the PCI addresses of all GPUs or NICs (`kind`: "GPU" or "NIC"), in the
 * source of addresses if the user gave one, and writes copies to out[], which
 * the caller frees. Fails if one is missing. */
static nw_status nccl_take_addresses(const struct nccl_file *file,
                                     const char *kind, char **out)
{
    bool nic = *kind == 'N';
    const nw_topology *source = file->export->options->addresses;
    const struct nw_node_type *type = file->type;
    const struct nw_node_type *from =
        source ? nw_topology_type_of(source, 0) : type;
    const struct nw_device *here = nic ? type->nic_device : type->gpu_device;
    const struct nw_device *there = nic ? from->nic_device : from->gpu_device;
    int32_t count = nic ? type->nic_count : type->gpu_count;
    int32_t other = nic ? from->nic_count : from->gpu_count;
    nw_status status = NW_OK;

    if (count != other)
        return nw_fail(NW_EINVAL,
                       "the source of addresses has %d %s%s, and the node "
                       "has %d",
                       other, kind, nw_plural((uint64_t)other), count);
    for (int32_t i = 0; !status && i < count; i++) {
        const struct nw_device *device = nccl_match(here, there, count, i);

        if (!device || !device->pci)
            return nw_fail(NW_EUNSUPPORTED,
                           "%s %d has no PCI address, by which NCCL finds it; "
                           "take the addresses from the node itself: "
                           "--addresses live",
                           kind, i);
        status = nccl_address(device->pci, &out[i]);
    }
    return status;
}

/* --- rates --- */

static const struct nw_link_class *nccl_class(const struct nccl_file *file,
                                              int32_t class)
{
    return &file->export->topology->class[class];
}

/* Writes the PCIe generation and number of lanes whose bandwidth is nearest to
 * `rate` (bytes/s). Counts a difference above 1 % in file->odd_rates. */
static void nccl_add_rate(struct nccl_file *file, double rate)
{
    static const double transfers[] = {2.5, 5, 8, 16, 32, 64};
    static const char *const names[] = {
        "2.5 GT/s", "5 GT/s", "8 GT/s", "16 GT/s", "32 GT/s", "64.0 GT/s PCIe"};
    double least = INFINITY;
    int lanes = 16;
    size_t best = 0;

    for (int width = 16; width; width /= 2)
        for (size_t i = 0; i < sizeof transfers / sizeof *transfers; i++) {
            double off = fabs(nw_pcie_rate(transfers[i], width) / rate - 1);

            if (off >= least)
                continue;
            least = off;
            lanes = width;
            best = i;
        }
    file->odd_rates += least > 0.01;
    nw_text_format(&file->export->text, " link_speed=\"%s\" link_width=\"%d\"",
                   names[best], lanes);
}

/* Returns the highest known bandwidth of the PCIe links below a switch, in
 * bytes/s; 0 if none is known. Below a link whose bandwidth is known, no
 * further links are considered. */
static double nccl_rate_below(const struct nccl_file *file, int32_t v)
{
    double most = 0;

    for (int32_t i = file->below.first[v]; i < file->below.first[v + 1]; i++) {
        int32_t c = file->below.item[i];
        const struct nw_link_class *link =
            nccl_class(file, file->type->class[c]);
        double rate =
            link->assumed ? nccl_rate_below(file, c) : link->bandwidth[0];

        most = rate > most ? rate : most;
    }
    return most;
}

/* Writes the PCIe bandwidth of a device or switch; nothing for a link of
 * another kind. The assumed bandwidth of a device is not written, because NCCL
 * then asks the system. NCCL cannot ask the system about the switches of this
 * file, so an assumed bandwidth of a switch is replaced by that of the links
 * below it or by 16 lanes of 16 GT/s. */
static void nccl_add_pcie(struct nccl_file *file, int32_t v)
{
    const struct nw_link_class *link = nccl_class(file, file->type->class[v]);
    bool bridge = file->type->kind[v] == NW_VERTEX_BRIDGE ||
                  file->type->kind[v] == NW_VERTEX_BOARD;
    double rate = link->bandwidth[0];

    file->one_way += link->bandwidth[0] != link->bandwidth[1];
    if (link->assumed && !bridge)
        return;
    if (link->assumed) {
        file->assumed_switches++;
        rate = nccl_rate_below(file, v);
        if (rate <= 0)
            rate = nw_pcie_rate(16, 16);
    }
    if (link->kind == NW_LINK_PCIE)
        nccl_add_rate(file, rate);
}

/* --- NVLink and xGMI --- */

/* Returns the number of links of `each` bytes/s whose total is `rate`; 0 if
 * `rate` is not a multiple of `each`. */
static int nccl_links_in(double rate, double each)
{
    double count = round(rate / each);

    return count >= 1 && fabs(count * each / rate - 1) < 1e-6 ? (int)count : 0;
}

/* Returns the other end of a link of vertex v, or -1 if v is not an end. */
static int32_t nccl_peer(const struct nw_direct_link *link, int32_t v)
{
    return link->a == v ? link->b : link->b == v ? link->a : -1;
}

/* Returns the compute capability to write for a GPU, from which NCCL derives
 * the bandwidth of one NVLink. It is 100 (50 GB/s) if the GPU has a link faster
 * than all of NVLink 4 together. It is 60 or 86 if the bandwidth of its first
 * NVLink is a multiple of 20 or 14 GB/s, but not of 25 GB/s. Returns 0 in all
 * other cases; NCCL then asks the GPU. */
static int nccl_generation(const struct nccl_file *file, int32_t v)
{
    static const int others[] = {60, 86};
    const struct nw_node_type *type = file->type;
    double first = 0;

    for (int32_t d = 0; d < type->direct_count; d++) {
        const struct nw_link_class *link =
            nccl_class(file, type->direct[d].class);

        if (nccl_peer(&type->direct[d], v) < 0 || link->kind != NW_LINK_NVLINK)
            continue;
        if (link->bandwidth[0] > NVLINK_4_MOST)
            return 100;
        first = first > 0 ? first : link->bandwidth[0];
    }
    if (first <= 0 || nccl_links_in(first, nw_nvlink_rate(80)))
        return 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (nccl_links_in(first, nw_nvlink_rate(others[i])))
            return others[i];
    return 0;
}

/* Returns the bandwidth of one NVLink or xGMI link in bytes/s that NCCL derives
 * from a compute capability (0: not written). */
static double nccl_rate_of_one(int sm, uint8_t kind)
{
    if (kind == NW_LINK_XGMI)
        return nw_link_assumed(NW_LINK_XGMI).bandwidth[0];
    return nw_nvlink_rate(sm ? sm : 80);
}

static void nccl_add_link(struct nccl_file *file,
                          const struct nw_link_class *link, int32_t peer,
                          int sm)
{
    const struct nw_node_type *type = file->type;
    bool to_switch = type->kind[peer] == NW_VERTEX_GPU_SWITCH;
    double each = nccl_rate_of_one(sm, link->kind);
    int count = nccl_links_in(link->bandwidth[0], each);

    file->one_way += link->bandwidth[0] != link->bandwidth[1];
    file->assumed_nvlinks += link->assumed;
    if (!count) {
        file->odd_rates++;
        count = (int)fmax(1, round(link->bandwidth[0] / each));
    }
    nccl_indent(file);
    nw_text_format(&file->export->text,
                   "<%s target=\"%s\" count=\"%d\" tclass=\"%s\"/>\n",
                   link->kind == NW_LINK_XGMI ? "xgmi" : "nvlink",
                   to_switch ? SWITCH_TARGET : file->gpu[type->index[peer]],
                   count, to_switch ? "0x068000" : "0x030200");
}

static void nccl_add_links(struct nccl_file *file, int32_t v, int sm)
{
    const struct nw_node_type *type = file->type;

    for (int32_t d = 0; d < type->direct_count; d++) {
        const struct nw_link_class *link =
            nccl_class(file, type->direct[d].class);
        int32_t peer = nccl_peer(&type->direct[d], v);

        if (peer < 0)
            continue;
        if (type->kind[peer] != NW_VERTEX_GPU_SWITCH &&
            type->kind[peer] != NW_VERTEX_GPU)
            file->odd_links++;
        else if (link->kind == NW_LINK_NVLINK || link->kind == NW_LINK_XGMI)
            nccl_add_link(file, link, peer, sm);
        else
            file->odd_links++;
    }
}

/* --- devices --- */

static bool nccl_has_links(const struct nccl_file *file, int32_t v)
{
    for (int32_t d = 0; d < file->type->direct_count; d++)
        if (nccl_peer(&file->type->direct[d], v) >= 0)
            return true;
    return nccl_class(file, file->type->class[v])->kind == NW_LINK_NVLINK;
}

/* Writes a <gpu> with its direct links; NCCL adds other attributes from the
 * system. */
static void nccl_add_tag(struct nccl_file *file, int32_t v)
{
    struct nw_text *text = &file->export->text;
    const struct nw_link_class *up = nccl_class(file, file->type->class[v]);
    int sm = nccl_generation(file, v);

    nccl_indent(file);
    nw_text_add(text, "<gpu");
    if (sm)
        nw_text_format(text, " sm=\"%d\"", sm);
    nw_text_add(text, ">\n");
    file->depth++;
    nccl_add_links(file, v, sm);
    /* NVLink from the GPU to its processor is written as <c2c> */
    if (up->kind == NW_LINK_NVLINK) {
        nccl_indent(file);
        nw_text_format(text, "<c2c bw=\"%.0f\" count=\"1\"/>\n",
                       up->bandwidth[0] / 1e6);
    }
    file->depth--;
    nccl_indent(file);
    nw_text_add(text, "</gpu>\n");
}

static void nccl_add_below(struct nccl_file *file, int32_t v);

/* Writes a <pci> for a GPU, a NIC, or a switch with all that is below it. A
 * switch gets an address that no device has. */
static void nccl_add_pci(struct nccl_file *file, int32_t v)
{
    struct nw_text *text = &file->export->text;
    const struct nw_node_type *type = file->type;
    enum nw_vertex_kind kind = (enum nw_vertex_kind)type->kind[v];
    bool gpu = kind == NW_VERTEX_GPU, nic = kind == NW_VERTEX_NIC;
    bool single = nic || (gpu && !nccl_has_links(file, v));
    int number = file->bridges + 1;

    nccl_indent(file);
    if (gpu || nic) {
        nw_text_format(text, "<pci busid=\"%s\" class=\"%s\"",
                       gpu ? file->gpu[type->index[v]]
                           : file->nic[type->index[v]],
                       gpu ? "0x030200" : "0x020700");
    } else {
        nw_text_format(text,
                       "<pci busid=\"ffff:%02x:%02x.0\" class=\"0x060400\"",
                       0xff - number / 32, number % 32);
        file->bridges++;
    }
    nccl_add_pcie(file, v);
    nw_text_add(text, single ? "/>\n" : ">\n");
    if (single)
        return;
    file->depth++;
    if (gpu)
        nccl_add_tag(file, v);
    else
        nccl_add_below(file, v);
    file->depth--;
    nccl_indent(file);
    nw_text_add(text, "</pci>\n");
}

static bool nccl_is_device(const struct nccl_file *file, int32_t v)
{
    uint8_t kind = file->type->kind[v];

    return kind == NW_VERTEX_BRIDGE || kind == NW_VERTEX_BOARD ||
           kind == NW_VERTEX_GPU || kind == NW_VERTEX_NIC;
}

/* Returns true if bridge v is a host bridge, which is not written: in NCCL's
 * files, devices of a host bridge hang directly below the processor. */
static bool nccl_is_host_bridge(const struct nccl_file *file, int32_t v)
{
    return file->type->kind[v] == NW_VERTEX_BRIDGE &&
           nccl_class(file, file->type->class[v])->kind != NW_LINK_PCIE;
}

static void nccl_add_device(struct nccl_file *file, int32_t v)
{
    if (!nccl_is_device(file, v))
        return;
    if (!nccl_is_host_bridge(file, v)) {
        nccl_add_pci(file, v);
        return;
    }
    file->host_bridges++;
    nccl_add_below(file, v);
}

static void nccl_add_below(struct nccl_file *file, int32_t v)
{
    for (int32_t i = file->below.first[v]; i < file->below.first[v + 1]; i++)
        nccl_add_device(file, file->below.item[i]);
}

/* --- processors --- */

/* Returns true if v is written as a <cpu>: a NUMA node, a package without NUMA
 * nodes, or a node with neither packages nor NUMA nodes. */
static bool nccl_is_processor(const struct nccl_file *file, int32_t v)
{
    const struct nw_node_type *type = file->type;

    if (type->kind[v] == NW_VERTEX_NUMA)
        return true;
    if (type->kind[v] != NW_VERTEX_PACKAGE && (v || type->package_count))
        return false;
    for (int32_t u = 0; u < type->vertex_count; u++)
        if (type->kind[u] == NW_VERTEX_NUMA &&
            nw_node_type_common(type, u, v) == v)
            return false;
    return true;
}

/* Returns the <cpu> under which a vertex is written: the nearest one above it,
 * otherwise the first one in the same package, otherwise the first of all. */
static int32_t nccl_processor_of(const struct nccl_file *file, int32_t v)
{
    const struct nw_node_type *type = file->type;

    for (;; v = type->parent[v]) {
        if (file->processor[v])
            return v;
        if (v && type->kind[v] != NW_VERTEX_PACKAGE)
            continue;
        for (int32_t u = 0; u < type->vertex_count; u++)
            if (file->processor[u] && nw_node_type_common(type, u, v) == v)
                return u;
    }
}

/* Returns true if the cores can be derived from the mask of hardware threads,
 * which is all that the file contains, as gpu/single_node.c does. */
static bool nccl_shows_cores(const int32_t *os, size_t count, size_t cores)
{
    size_t breaks = 0, half = count / 2;

    for (size_t i = 1; i < count; i++)
        breaks += os[i] != os[i - 1] + 1;
    if (cores == count)
        return count % 2 || breaks != 1 || os[half] == os[half - 1] + 1;
    return cores == half && breaks == 1 && os[half] != os[half - 1] + 1;
}

static void nccl_add_mask(struct nw_text *text, const int32_t *os, size_t count)
{
    int32_t words = os[count - 1] / 32 + 1;
    size_t end = count;

    nw_text_add(text, " affinity=\"");
    for (int32_t w = words - 1; w >= 0; w--) {
        uint32_t bits = 0;

        for (; end && os[end - 1] / 32 == w; end--)
            bits |= 1u << os[end - 1] % 32;
        nw_text_format(text, "%08x%s", bits, w ? "," : "");
    }
    nw_text_add(text, "\"");
}

/* Writes the mask of the hardware threads of a processor's cores, if the
 * numbers of the threads are known. */
static nw_status nccl_add_affinity(struct nccl_file *file, int32_t processor)
{
    const struct nw_node_type *type = file->type;
    size_t count = 0, cores = 0, room;
    int32_t *os = NULL;
    nw_status status;

    if (!type->core_pu || !type->pu_os || !type->core_count)
        return NW_OK;
    room = (size_t)type->core_pu[type->core_count];
    status = nw_alloc(room, sizeof *os, &os);
    for (int32_t c = 0; !status && c < type->core_count; c++) {
        if (nccl_processor_of(file, type->core[c]) != processor)
            continue;
        cores++;
        for (int32_t p = type->core_pu[c]; p < type->core_pu[c + 1]; p++)
            os[count++] = type->pu_os[p];
    }
    if (!status && count) {
        qsort(os, count, sizeof *os, nw_compare_int32);
        file->odd_cores += !nccl_shows_cores(os, count, cores);
        nccl_add_mask(&file->export->text, os, count);
    }
    free(os);
    return status;
}

/* Writes the devices of a <cpu>: those below the vertex, and those that
 * nccl_processor_of assigns to it. */
static void nccl_add_devices(struct nccl_file *file, int32_t processor)
{
    const struct nw_node_type *type = file->type;

    for (int32_t v = 1; v < type->vertex_count; v++) {
        if (!nccl_is_device(file, v) || nccl_is_device(file, type->parent[v]) ||
            nccl_processor_of(file, v) != processor)
            continue;
        file->far_devices +=
            nw_node_type_common(type, v, processor) != processor;
        nccl_add_device(file, v);
    }
}

static nw_status nccl_add_cpu(struct nccl_file *file, int32_t v, int number)
{
    struct nw_text *text = &file->export->text;
    nw_status status;

    nccl_indent(file);
    nw_text_format(text, "<cpu numaid=\"%d\"", number);
    status = nccl_add_affinity(file, v);
    nw_text_add(text, ">\n");
    file->depth++;
    nccl_add_devices(file, v);
    file->depth--;
    nccl_indent(file);
    nw_text_add(text, "</cpu>\n");
    return status;
}

/* --- what is lost --- */

static bool nccl_has_kind(const struct nw_node_type *type,
                          enum nw_vertex_kind kind)
{
    for (int32_t v = 0; v < type->vertex_count; v++)
        if (type->kind[v] == kind)
            return true;
    return false;
}

static bool nccl_has_names(const struct nw_device *device, int32_t count)
{
    for (int32_t i = 0; device && i < count; i++)
        if (device[i].name || device[i].uuid)
            return true;
    return false;
}

static bool nccl_has_latencies(const struct nccl_file *file)
{
    const nw_topology *t = file->export->topology;

    for (int32_t c = 0; c < t->class_count; c++)
        if (t->class[c].latency !=
            nw_link_assumed((enum nw_link_kind)t->class[c].kind).latency)
            return true;
    return false;
}

/* Returns true if the bandwidth of a link inside a processor or of a host
 * bridge is known; NCCL's format has no such bandwidths. */
static bool nccl_has_core_rates(const struct nccl_file *file)
{
    for (int32_t v = 1; v < file->type->vertex_count; v++) {
        const struct nw_link_class *link =
            nccl_class(file, file->type->class[v]);

        if (!link->assumed && link->kind <= NW_LINK_SOCKET)
            return true;
    }
    return false;
}

static void nccl_lose_processors(struct nccl_file *file)
{
    const struct nw_node_type *type = file->type;
    struct nw_export *export = file->export;

    if (!type->core_pu || !type->pu_os)
        nw_export_lose(export, "the cores, whose numbers are unknown");
    if (file->odd_cores)
        nw_export_lose(export, "which threads share a core");
    if (nccl_has_kind(type, NW_VERTEX_NUMA))
        nw_export_lose(export, "packages around NUMA nodes");
    if (nccl_has_kind(type, NW_VERTEX_DIE) ||
        nccl_has_kind(type, NW_VERTEX_L3) || nccl_has_kind(type, NW_VERTEX_L2))
        nw_export_lose(export, "dies and caches");
    if (nccl_has_core_rates(file))
        nw_export_lose(export, "the rates inside processors");
    if (nccl_has_latencies(file))
        nw_export_lose(export, "latencies");
    if (type->staged || type->pxn)
        nw_export_lose(export, "how GPU messages leave the node");
}

static void nccl_lose_devices(struct nccl_file *file)
{
    const struct nw_node_type *type = file->type;
    const struct {
        int count;
        const char *what;
    } lost[] = {
        {file->host_bridges, "host bridges"},
        {file->far_devices, "that devices are near to no processor"},
        {file->odd_rates, "rates that neither PCIe nor NVLink has (the nearest "
                          "are written)"},
        {file->one_way, "different rates up and down"},
        {file->assumed_switches, "that the rates of PCIe switches are assumed"},
        {file->assumed_nvlinks, "that the rates of NVLinks are assumed"},
        {file->odd_links, "direct links other than NVLink and xGMI of GPUs"},
        {nccl_has_kind(type, NW_VERTEX_BOARD),
         "boards (PCIe switches instead)"},
        {nccl_has_names(type->gpu_device, type->gpu_count) ||
             nccl_has_names(type->nic_device, type->nic_count),
         "models, names and UUIDs of devices"},
    };

    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
        if (lost[i].count)
            nw_export_lose(file->export, "%s", lost[i].what);
}

/* --- the file --- */

static nw_status export_nccl_prepare(struct nccl_file *file)
{
    const struct nw_node_type *type = file->type;
    size_t n = (size_t)type->vertex_count;
    nw_status status = nw_groups_make(type->parent, type->vertex_count,
                                      type->vertex_count, &file->below);

    if (!status)
        status = nw_alloc(n, sizeof *file->processor, &file->processor);
    for (int32_t v = 0; !status && v < type->vertex_count; v++)
        file->processor[v] = nccl_is_processor(file, v);
    if (!status)
        status =
            nw_alloc((size_t)type->gpu_count, sizeof *file->gpu, &file->gpu);
    if (!status)
        status =
            nw_alloc((size_t)type->nic_count, sizeof *file->nic, &file->nic);
    if (!status)
        status = nccl_take_addresses(file, "GPU", file->gpu);
    if (!status)
        status = nccl_take_addresses(file, "NIC", file->nic);
    return status;
}

static void nccl_fini(struct nccl_file *file)
{
    for (int32_t i = 0; file->gpu && i < file->type->gpu_count; i++)
        free(file->gpu[i]);
    for (int32_t i = 0; file->nic && i < file->type->nic_count; i++)
        free(file->nic[i]);
    free(file->gpu);
    free(file->nic);
    free(file->processor);
    nw_groups_fini(&file->below);
}

nw_status nw_export_nccl(struct nw_export *export)
{
    struct nccl_file file = {.export = export, .depth = 1};
    int number = 0;
    nw_status status = nw_export_one_node(export, &file.type);

    if (!status && !file.type->gpu_count)
        status =
            nw_fail(NW_EUNSUPPORTED, "the node has no GPUs, so a file for NCCL "
                                     "would be empty; use --to hwloc");
    if (!status)
        status = export_nccl_prepare(&file);
    nw_text_add(&export->text, "<system version=\"1\">\n");
    for (int32_t v = 0; !status && v < file.type->vertex_count; v++)
        if (file.processor[v])
            status = nccl_add_cpu(&file, v, number++);
    nw_text_add(&export->text, "</system>\n");
    if (!status) {
        nccl_lose_processors(&file);
        nccl_lose_devices(&file);
    }
    nccl_fini(&file);
    return status;
}

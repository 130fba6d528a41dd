/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads nccl:FILE, a topology file of NCCL or RCCL: processors, PCI bridges,
 * GPUs with their NVLink or xGMI, NICs. A <cpu> becomes a package; a bridge
 * becomes a vertex if several devices or bridges are directly below it.
 */
#include "topology/gpu/nccl.h"
#include "base/array.h"
#include "base/file.h"
#include "base/c_locale.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/gpu/pcie.h"
#include "topology/source.h"

#include <stdlib.h>
#include <string.h>

#define CLASS_BRIDGE 0x0604
#define MAX_DEVICES 256

static nw_status nccl_bad(const struct nw_nccl *nccl, const struct nw_xml *tag,
                          const char *what, const char *word)
{
    return nw_fail(NW_EFORMAT, "%s:%d: %s '%.60s'", nccl->file, tag->line, what,
                   word);
}

static const struct nw_xml *nccl_xml_child(const struct nw_xml *tag,
                                           const char *name)
{
    const struct nw_xml *below = tag->first;

    while (below && strcmp(below->tag, name))
        below = below->next;
    return below;
}

static unsigned long nccl_class_of(const struct nw_xml *pci)
{
    const char *class = nw_xml_get(pci, "class");

    return class ? strtoul(class, NULL, 16) >> 8 : 0;
}

static bool nccl_is_bridge(const struct nw_xml *pci)
{
    return nccl_xml_child(pci, "pci") || nccl_class_of(pci) == CLASS_BRIDGE;
}

static enum nw_vertex_kind nccl_kind_of(const struct nw_xml *pci)
{
    unsigned long class = nccl_class_of(pci);

    if (nccl_xml_child(pci, "gpu") || class >> 8 == 0x03 || class >> 8 == 0x12)
        return NW_VERTEX_GPU;
    if (nccl_xml_child(pci, "nic") || class >> 8 == 0x02 || class == 0x0c06)
        return NW_VERTEX_NIC;
    return NW_VERTEX_NODE; /* neither a GPU nor a NIC */
}

/* Returns the bandwidth in bytes/s of a PCIe link such as "16 GT/s" with 16
 * lanes; 0 if the file does not give it. */
static double speed_of(const struct nw_xml *pci)
{
    const char *speed = nw_xml_get(pci, "link_speed");
    const char *width = nw_xml_get(pci, "link_width");

    return nw_pcie_rate(speed ? nw_strtod(speed, NULL) : 0,
                        width ? strtol(width, NULL, 10) : 0);
}

/* Fails if the speed or width of a PCIe link is invalid. Unknown, 0, 63 and 255
 * are valid: the kernel reports them if a device or driver does not know the
 * value (NCCL writes 0.000000). */
static nw_status check_link(const struct nw_nccl *nccl,
                            const struct nw_xml *pci)
{
    const char *speed = nw_xml_get(pci, "link_speed");
    const char *width = nw_xml_get(pci, "link_width");
    int32_t lanes = 1;
    char *end;

    if (speed && *speed && strncmp(speed, "Unknown", 7)) {
        double transfers = nw_strtod(speed, &end);

        if (end == speed || (*end && *end != ' ') ||
            (transfers != 0 && nw_pcie_rate(transfers, 1) == 0))
            return nccl_bad(nccl, pci,
                            "link_speed is one of PCIe such as '16 GT/s', not",
                            speed);
    }
    if (width && *width &&
        (!nw_parse_i32(width, &lanes) || lanes < 0 ||
         (lanes != 63 && lanes != 255 && lanes != 12 &&
          (lanes > 32 || (lanes & (lanes - 1))))))
        return nccl_bad(nccl, pci,
                        "link_width is a number of PCIe lanes such as 16, not",
                        width);
    return NW_OK;
}

static double nccl_slower(double a, double b)
{
    return a <= 0 || (b > 0 && b < a) ? b : a;
}

/* Returns the number of PCI devices and bridges directly below a bridge. */
static int count_below(const struct nw_xml *bridge)
{
    int count = 0;

    for (const struct nw_xml *pci = bridge->first; pci; pci = pci->next)
        count += !strcmp(pci->tag, "pci");
    return count;
}

/* The package and the parent vertex of the next device, and the bandwidth of
 * the slowest link of the bridges between this parent and the device (bytes/s;
 * 0: unknown). */
struct nccl_spot {
    int32_t package, vertex;
    double speed;
};

static nw_status nccl_note_device(struct nw_nccl *nccl,
                                  const struct nw_xml *pci,
                                  const struct nccl_spot *spot)
{
    nw_status status;

    if (nccl->count == MAX_DEVICES)
        return nccl_bad(nccl, pci, "more than 256 devices at", pci->tag);
    status = nw_grow(&nccl->device, &nccl->capacity, nccl->count + 1,
                     sizeof *nccl->device);
    if (!status)
        nccl->device[nccl->count++] = (struct nw_nccl_device){
            .pci = pci,
            .busid = nw_xml_get(pci, "busid"),
            .kind = nccl_kind_of(pci),
            .parent = spot->vertex,
            .cpu = nccl->cpu_count - 1,
            .package = spot->package,
            .speed = nccl_slower(spot->speed, speed_of(pci)),
        };
    return status;
}

/* Adds a <pci> tag and the tags below it: a bridge becomes a vertex if several
 * devices or bridges are directly below it, a device is added to the list. */
static nw_status walk_pci(struct nw_nccl *nccl, const struct nw_xml *pci,
                          struct nccl_spot spot)
{
    int32_t class;
    nw_status status = check_link(nccl, pci);

    if (status)
        return status;
    if (!nw_xml_get(pci, "busid"))
        return nccl_bad(nccl, pci, "no 'busid' in", pci->tag);
    if (!nccl_is_bridge(pci))
        return nccl_note_device(nccl, pci, &spot);
    spot.speed = nccl_slower(spot.speed, speed_of(pci));
    if (count_below(pci) > 1) {
        status = nw_topology_class_of_rate(nccl->topology, NW_LINK_PCIE,
                                           spot.speed, &class);
        if (!status)
            status = nw_node_type_add(nccl->type, spot.vertex, NW_VERTEX_BRIDGE,
                                      class, &spot.vertex);
        spot.speed = 0;
    }
    for (const struct nw_xml *below = pci->first; !status && below;
         below = below->next)
        if (!strcmp(below->tag, "pci"))
            status = walk_pci(nccl, below, spot);
    return status;
}

static nw_status nccl_read_threads(const struct nw_nccl *nccl,
                                   const struct nw_xml *cpu,
                                   struct nw_threads *threads)
{
    const char *affinity = nw_xml_get(cpu, "affinity");
    bool good = true;
    nw_status status = NW_OK;

    if (affinity && *affinity)
        status = nw_threads_mask(affinity, threads, &good);
    if (!status && !good)
        status =
            nccl_bad(nccl, cpu, "no mask of cores such as 0000ffff:", affinity);
    return status;
}

static nw_status add_cpu(struct nw_nccl *nccl, const struct nw_threads *threads,
                         int32_t *vertex)
{
    int32_t class;
    nw_status status;

    *vertex = 0;
    if (threads->elsewhere)
        return NW_OK; /* the devices of this <cpu> are added below the node */
    status =
        nw_topology_class_of_rate(nccl->topology, NW_LINK_SOCKET, 0, &class);
    if (!status)
        status =
            nw_node_type_add(nccl->type, 0, NW_VERTEX_PACKAGE, class, vertex);
    return status
               ? status
               : nw_single_cores(nccl->topology, nccl->type, *vertex, threads);
}

static const char *nccl_host_of(const struct nw_xml *cpu)
{
    const char *host = nw_xml_get(cpu, "host_hash");

    return host ? host : "";
}

/* Returns the first <cpu> from `tag` on that belongs to the host nccl->host, or
 * to any host if that is NULL. Returns NULL if no such tag follows. */
static const struct nw_xml *next_cpu(const struct nw_nccl *nccl,
                                     const struct nw_xml *tag)
{
    while (tag && (strcmp(tag->tag, "cpu") ||
                   (nccl->host && strcmp(nccl_host_of(tag), nccl->host))))
        tag = tag->next;
    return tag;
}

/* Adds a package for each <cpu>; vertex[c] is the package of the c-th <cpu>, or
 * 0 if other packages have all its threads. The file lists processors in the
 * order in which NCCL met them. The packages are added in the order of their
 * hardware threads. */
static nw_status add_cpus(struct nw_nccl *nccl, const struct nw_xml *system,
                          int32_t *vertex)
{
    struct nw_threads *threads;
    int32_t order[MAX_DEVICES], count = 0;
    nw_status status = nw_alloc(MAX_DEVICES, sizeof *threads, &threads);

    if (status)
        return status;
    for (const struct nw_xml *cpu = next_cpu(nccl, system->first);
         !status && cpu; cpu = next_cpu(nccl, cpu->next))
        status = count == MAX_DEVICES
                     ? nccl_bad(nccl, cpu, "more than 256 tags", "cpu")
                     : nccl_read_threads(nccl, cpu, &threads[count++]);
    if (!status)
        status = nw_threads_share(threads, count, order);
    for (int32_t k = 0; !status && k < count; k++)
        status = add_cpu(nccl, &threads[order[k]], &vertex[order[k]]);
    for (int32_t c = 0; c < count; c++)
        free(threads[c].os);
    free(threads);
    return status;
}

static nw_status walk_system(struct nw_nccl *nccl, const struct nw_xml *system)
{
    int32_t vertex[MAX_DEVICES];
    nw_status status = add_cpus(nccl, system, vertex);

    for (const struct nw_xml *cpu = next_cpu(nccl, system->first);
         !status && cpu; cpu = next_cpu(nccl, cpu->next)) {
        int32_t package = vertex[nccl->cpu_count++];
        struct nccl_spot spot = {package, package, 0};

        for (const struct nw_xml *pci = cpu->first; !status && pci;
             pci = pci->next)
            if (!strcmp(pci->tag, "pci"))
                status = walk_pci(nccl, pci, spot);
    }
    if (!status && !nccl->cpu_count)
        status = nccl_bad(nccl, system, "no <cpu> in", system->tag);
    return status;
}

/* If the file gives no device a class or another sign of its kind, decides
 * which devices are GPUs. All processors with devices get the same number of
 * GPUs: as many as the processor with the fewest devices has. On each
 * processor, the devices with the highest addresses become GPUs, the others
 * NICs. */
static void guess_kinds(struct nw_nccl *nccl)
{
    size_t fewest = nccl->count;

    for (size_t i = 0; i < nccl->count; i++)
        if (nw_xml_get(nccl->device[i].pci, "class") ||
            nccl->device[i].kind != NW_VERTEX_NODE)
            return;
    for (int32_t c = 0; c < nccl->cpu_count; c++) {
        size_t here = 0;

        for (size_t i = 0; i < nccl->count; i++)
            here += nccl->device[i].cpu == c;
        fewest = here && here < fewest ? here : fewest;
    }
    for (int32_t c = 0; c < nccl->cpu_count; c++) {
        size_t left = fewest;

        for (size_t i = nccl->count; i-- > 0;)
            if (nccl->device[i].cpu == c)
                nccl->device[i].kind =
                    left && left-- ? NW_VERTEX_GPU : NW_VERTEX_NIC;
    }
}

static int by_address(const void *a, const void *b)
{
    const struct nw_nccl_device *x = a, *y = b;

    return strcasecmp(x->busid, y->busid);
}

static nw_status sort_devices(struct nw_nccl *nccl)
{
    if (!nccl->count)
        return NW_OK;
    qsort(nccl->device, nccl->count, sizeof *nccl->device, by_address);
    for (size_t i = 1; i < nccl->count; i++)
        if (!by_address(&nccl->device[i - 1], &nccl->device[i]))
            return nccl_bad(nccl, nccl->device[i].pci, "a second device",
                            nccl->device[i].busid);
    return NW_OK;
}

/* Returns the NIC's name, such as mlx5_0, or NULL if the file has no <net>. */
static const char *nccl_card_name(const struct nw_xml *pci)
{
    const struct nw_xml *nic = nccl_xml_child(pci, "nic");
    const struct nw_xml *net = nic ? nccl_xml_child(nic, "net") : NULL;

    return net ? nw_xml_get(net, "name") : NULL;
}

static nw_status gpu_nccl_add_device(struct nw_nccl *nccl,
                                     struct nw_nccl_device *device,
                                     struct nw_device *info)
{
    const char *name = nccl_card_name(device->pci);
    int32_t class;
    enum nw_link_kind link = device->link ? device->link : NW_LINK_PCIE;
    nw_status status =
        nw_topology_class_of_rate(nccl->topology, link, device->speed, &class);

    if (!status)
        status = nw_node_type_add(nccl->type, device->parent, device->kind,
                                  class, &device->vertex);
    if (!status)
        status = nw_strdup(device->busid, &info->pci);
    if (!status && name)
        status = nw_strdup(name, &info->name);
    return status;
}

static nw_status nccl_add_kind(struct nw_nccl *nccl, enum nw_vertex_kind kind,
                               struct nw_device **info, int32_t *count)
{
    nw_status status = nw_alloc(nccl->count, sizeof **info, info);

    for (size_t i = 0; !status && i < nccl->count; i++)
        if (nccl->device[i].kind == kind)
            status = gpu_nccl_add_device(nccl, &nccl->device[i],
                                         &(*info)[(*count)++]);
    return status;
}

/* Builds the node type of one host, or of the whole file if nccl->host is
 * NULL. */
static nw_status nccl_build_host(struct nw_nccl *nccl,
                                 const struct nw_xml *system)
{
    nw_status status =
        nw_node_type_new(nccl->topology, nccl->type_name, &nccl->type);

    nccl->count = 0;
    nccl->cpu_count = 0;
    if (!status)
        status = walk_system(nccl, system);
    if (!status)
        status = sort_devices(nccl);
    if (status)
        return status;
    guess_kinds(nccl);
    status = nw_nccl_join_processors(nccl);
    if (!status)
        status = nccl_add_kind(nccl, NW_VERTEX_GPU, &nccl->type->gpu_device,
                               &nccl->type->gpu_count);
    if (!status)
        status = nccl_add_kind(nccl, NW_VERTEX_NIC, &nccl->type->nic_device,
                               &nccl->type->nic_count);
    return status ? status : nw_nccl_direct(nccl);
}

static nw_status gpu_nccl_build(struct nw_nccl *nccl,
                                const struct nw_xml *system,
                                enum nw_elements elements)
{
    nw_status status;

    if (strcmp(system->tag, "system"))
        return nccl_bad(nccl, system, "NCCL's file begins with <system>, not",
                        system->tag);
    nccl->topology->elements = elements;
    if (nw_nccl_has_hosts(system))
        return nw_nccl_hosts(nccl, system, nccl_build_host, elements);
    nccl->type_name = "node";
    status = nccl_build_host(nccl, system);
    return status ? status
                  : nw_single_finish(nccl->topology, nccl->file, elements);
}

nw_status nw_source_nccl(const char *what, enum nw_elements elements,
                         nw_topology **out)
{
    struct nw_nccl nccl = {.file = what};
    struct nw_xml *system = NULL;
    char *text = NULL;
    size_t length;
    nw_status status = nw_file_read_text(what, &text, &length);

    if (!status)
        status = nw_xml_parse(what, text, &system);
    if (!status)
        status = nw_topology_new(what, &nccl.topology);
    if (!status)
        status = gpu_nccl_build(&nccl, system, elements);
    if (status)
        nw_topology_free(nccl.topology);
    else
        *out = nccl.topology;
    free(nccl.device);
    nw_xml_free(system);
    free(text);
    return status;
}

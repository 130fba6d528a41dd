/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides which PCI devices are GPUs or NICs, and finds their names. */
#include "base/array.h"
#include "base/status.h"
#include "topology/hwloc/devices.h"

#include <stdio.h>
#include <string.h>

#define VENDOR_AMD 0x1002
#define VENDOR_NVIDIA 0x10de
#define VENDOR_AMAZON 0x1d0f
#define VENDOR_CRAY 0x17db
#define VENDOR_HPE 0x1590
#define VENDOR_INTEL 0x8086
#define CLASS_DISPLAY 0x03
#define CLASS_VGA 0x0300
#define CLASS_DISPLAY_OTHER 0x0380
#define CLASS_NETWORK 0x02
#define CLASS_INFINIBAND 0x0207
#define CLASS_FABRIC 0x0208
#define CLASS_INFINIBAND_OLD 0x0c06
#define CLASS_ACCELERATOR 0x12

/* Returns the first operating system device directly below `pci` whose name
 * begins with `prefix`; NULL if not found. */
static hwloc_obj_t named_below(hwloc_obj_t pci, const char *prefix)
{
    for (hwloc_obj_t os = pci->io_first_child; os; os = os->next_sibling)
        if (os->type == HWLOC_OBJ_OS_DEVICE && os->name &&
            !strncmp(os->name, prefix, strlen(prefix)))
            return os;
    return NULL;
}

static hwloc_obj_t typed_below(hwloc_obj_t pci, hwloc_obj_osdev_type_t type)
{
    for (hwloc_obj_t os = pci->io_first_child; os; os = os->next_sibling)
        if (os->type == HWLOC_OBJ_OS_DEVICE && os->attr->osdev.type == type)
            return os;
    return NULL;
}

/* Returns true if a display device or accelerator is a GPU that computes. All
 * of NVIDIA count. AMD's VGA devices that compute have PCI device ids from
 * 0x6600 to 0x7fff; those on server boards have lower ones. Intel's server GPUs
 * have no display output. */
static bool is_compute_chip(const struct hwloc_pcidev_attr_s *attr)
{
    if (attr->vendor_id == VENDOR_INTEL)
        return attr->class_id == CLASS_DISPLAY_OTHER;
    if (attr->vendor_id == VENDOR_AMD && attr->class_id == CLASS_VGA)
        return attr->device_id >= 0x6600 && attr->device_id < 0x8000;
    return attr->vendor_id == VENDOR_NVIDIA || attr->vendor_id == VENDOR_AMD;
}

bool nw_hwloc_is_gpu(hwloc_obj_t pci)
{
    const struct hwloc_pcidev_attr_s *attr = &pci->attr->pcidev;
    unsigned class = attr->class_id >> 8;

    if ((class == CLASS_DISPLAY || class == CLASS_ACCELERATOR) &&
        is_compute_chip(attr))
        return true;
    return named_below(pci, "cuda") || named_below(pci, "nvml") ||
           named_below(pci, "rsmi");
}

hwloc_obj_t nw_hwloc_partition(hwloc_obj_t pci, int n)
{
    for (hwloc_obj_t os = pci->io_first_child; os; os = os->next_sibling)
        if (os->type == HWLOC_OBJ_OS_DEVICE && os->name &&
            !strncmp(os->name, "rsmi", 4) && n-- == 0)
            return os;
    return NULL;
}

/* Returns true if a PCI device is a NIC of a high-speed network: InfiniBand,
 * another fabric class, EFA or Slingshot, or a device with verbs. */
static bool is_fabric(hwloc_obj_t pci)
{
    const struct hwloc_pcidev_attr_s *attr = &pci->attr->pcidev;
    bool efa = attr->vendor_id == VENDOR_AMAZON &&
               (attr->device_id & 0xfff0) == 0xefa0;
    /* Slingshot reports the class Ethernet, like the NIC of the management
     * network */
    bool slingshot =
        (attr->vendor_id == VENDOR_CRAY && attr->device_id == 0x0501) ||
        (attr->vendor_id == VENDOR_HPE && attr->device_id == 0x0371);

    return attr->class_id == CLASS_INFINIBAND ||
           attr->class_id == CLASS_FABRIC ||
           attr->class_id == CLASS_INFINIBAND_OLD || efa || slingshot ||
           typed_below(pci, HWLOC_OBJ_OSDEV_OPENFABRICS);
}

static bool has_network_name(hwloc_obj_t pci)
{
    return typed_below(pci, HWLOC_OBJ_OSDEV_NETWORK) ||
           typed_below(pci, HWLOC_OBJ_OSDEV_OPENFABRICS);
}

/* Returns true for a virtual function of a NIC. Its name says so, or it has no
 * network name and is on the same bus as a device that has one and another PCI
 * device id. */
static bool is_virtual(hwloc_obj_t pci)
{
    const char *name = hwloc_obj_get_info_by_name(pci, "PCIDevice");

    if (name && strstr(name, "Virtual Function"))
        return true;
    if (has_network_name(pci) || !pci->parent)
        return false;
    for (hwloc_obj_t peer = pci->parent->io_first_child; peer;
         peer = peer->next_sibling)
        if (peer->type == HWLOC_OBJ_PCI_DEVICE && has_network_name(peer) &&
            peer->attr->pcidev.bus == pci->attr->pcidev.bus &&
            peer->attr->pcidev.device_id != pci->attr->pcidev.device_id)
            return true;
    return false;
}

bool nw_hwloc_is_card(hwloc_obj_t pci, bool fabric)
{
    if (is_virtual(pci))
        return false;
    return is_fabric(pci) ||
           (!fabric && pci->attr->pcidev.class_id >> 8 == CLASS_NETWORK);
}

bool nw_hwloc_has_fabric(hwloc_topology_t machine)
{
    hwloc_obj_t pci = NULL;

    while ((pci = hwloc_get_next_pcidev(machine, pci)))
        if (is_fabric(pci) && !is_virtual(pci))
            return true;
    return false;
}

static nw_status device_kind_copy(const char *text, char **out)
{
    return text ? nw_strdup(text, out) : NW_OK;
}

static const char *info_below(hwloc_obj_t pci, const char *key)
{
    for (hwloc_obj_t os = pci->io_first_child; os; os = os->next_sibling) {
        const char *value = hwloc_obj_get_info_by_name(os, key);

        if (value)
            return value;
    }
    return NULL;
}

static const char *device_kind_model(hwloc_obj_t pci)
{
    const char *name = info_below(pci, "GPUModel");

    return name ? name : hwloc_obj_get_info_by_name(pci, "PCIDevice");
}

static const char *device_kind_card_name(hwloc_obj_t pci)
{
    hwloc_obj_t os = typed_below(pci, HWLOC_OBJ_OSDEV_OPENFABRICS);

    if (!os)
        os = typed_below(pci, HWLOC_OBJ_OSDEV_NETWORK);
    return os ? os->name : hwloc_obj_get_info_by_name(pci, "PCIDevice");
}

/* Copies the UUID in the form that CUDA_VISIBLE_DEVICES and
 * ROCR_VISIBLE_DEVICES accept. */
static nw_status copy_uuid(hwloc_obj_t pci, char **out)
{
    const char *uuid = info_below(pci, "NVIDIAUUID");
    char text[64];

    if (!uuid)
        uuid = info_below(pci, "AMDUUID");
    if (uuid && !uuid[strspn(uuid, "0")]) /* partitions of a GPU report a
                                             UUID of zeros */
        uuid = NULL;
    if (!uuid || !strncmp(uuid, "GPU-", 4))
        return device_kind_copy(uuid, out);
    snprintf(text, sizeof text, "GPU-%s", uuid);
    return nw_strdup(text, out);
}

nw_status nw_hwloc_describe(const struct nw_hwloc_device *device,
                            struct nw_device *info)
{
    const struct hwloc_pcidev_attr_s *pci = &device->obj->attr->pcidev;
    bool gpu = device->kind == NW_VERTEX_GPU;
    char address[32];
    nw_status status;

    snprintf(address, sizeof address, "%04x:%02x:%02x.%x",
             (unsigned)pci->domain, pci->bus, pci->dev, pci->func);
    status = nw_strdup(address, &info->pci);
    if (!status)
        status = device_kind_copy(gpu ? device_kind_model(device->obj)
                                      : device_kind_card_name(device->obj),
                                  &info->name);
    if (!status && gpu)
        status = copy_uuid(device->obj, &info->uuid);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices between being found and being vertices; private to the hwloc
 * files. */
#ifndef NW_TOPOLOGY_HWLOC_DEVICES_H
#define NW_TOPOLOGY_HWLOC_DEVICES_H

#include "topology/hwloc/parts.h"

struct nw_hwloc_device {
    hwloc_obj_t obj;  /* a PCI device */
    hwloc_obj_t part; /* the partition of it that this is; NULL: all of it */
    enum nw_vertex_kind kind;
    uint64_t order;         /* by domain, bus, device, function */
    int32_t parent;         /* vertex */
    double speed;           /* of the way to the parent, bytes/s; 0 unknown */
    enum nw_link_kind link; /* NVLink to a processor; 0 is PCIe */
};

struct nw_hwloc_devices {
    struct nw_hwloc_device *device;
    size_t count, capacity;
};

/* NVIDIA and AMD display, 3-D and accelerator devices, and whatever else CUDA
 * or ROCm names. */
bool nw_hwloc_is_gpu(hwloc_obj_t pci);
/* The n-th operating system device of a GPU that ROCm SMI names, or NULL. A GPU
 * of AMD's in several partitions has one for each. */
hwloc_obj_t nw_hwloc_partition(hwloc_obj_t pci, int n);
/* Some card speaks verbs or another fabric. */
bool nw_hwloc_has_fabric(hwloc_topology_t machine);
/* A network card that MPI would use: with `fabric` only those of a fabric,
 * else Ethernet too. Virtual functions are left out: they are the physical
 * card again. */
bool nw_hwloc_is_card(hwloc_obj_t pci, bool fabric);
/* Model or card name, UUID and PCI address. */
NW_MUST_CHECK nw_status nw_hwloc_describe(const struct nw_hwloc_device *device,
                                          struct nw_device *info);

/* GPUs joined to their processor by NVLink hang there, not below a bridge. */
NW_MUST_CHECK nw_status nw_hwloc_join_processors(
    struct nw_hwloc_build *build, struct nw_hwloc_devices *devices);
/* NVLink and xGMI between GPUs and GPU switches. */
NW_MUST_CHECK nw_status nw_hwloc_add_direct(struct nw_hwloc_build *build);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of devices that were found but have no vertices yet; private to the
 * files of this folder. */
#ifndef NW_TOPOLOGY_HWLOC_DEVICES_H
#define NW_TOPOLOGY_HWLOC_DEVICES_H

#include "topology/hwloc/parts.h"

struct nw_hwloc_device {
    hwloc_obj_t obj;  /* the PCI device */
    hwloc_obj_t part; /* the partition of the GPU, if the device is only that;
                         NULL: the whole device */
    enum nw_vertex_kind kind;
    uint64_t order;         /* sort key: PCI domain, bus, device, function */
    int32_t parent;         /* vertex above it */
    double speed;           /* of the link to the parent, bytes/s; 0: unknown */
    enum nw_link_kind link; /* kind of the direct link to a processor; 0: PCIe
                             */
};

struct nw_hwloc_devices {
    struct nw_hwloc_device *device;
    size_t count, capacity;
};

/* Returns true for GPUs that compute: display, 3-D and accelerator devices of
 * NVIDIA and AMD, Intel's GPUs without display output, and other devices that
 * CUDA, NVML or ROCm names. VGA devices of AMD count only by their device id.
 */
bool nw_hwloc_is_gpu(hwloc_obj_t pci);
/* Returns number n, from 0, of the operating system devices of ROCm SMI below a
 * GPU; NULL if there are fewer. An AMD GPU in several partitions has one such
 * device for each partition. */
hwloc_obj_t nw_hwloc_partition(hwloc_obj_t pci, int n);
/* Returns true if some NIC that is not a virtual function has InfiniBand verbs
 * or another fabric interface. */
bool nw_hwloc_has_fabric(hwloc_topology_t machine);
/* Returns true for a NIC that MPI would use. If `fabric` is set, these are only
 * NICs with a fabric interface, otherwise Ethernet NICs too. Returns false for
 * virtual functions, which duplicate the physical NIC. */
bool nw_hwloc_is_card(hwloc_obj_t pci, bool fabric);
/* Stores in *info the model and UUID of a GPU, or the name of a NIC, and the
 * PCI address. */
NW_MUST_CHECK nw_status nw_hwloc_describe(const struct nw_hwloc_device *device,
                                          struct nw_device *info);

/* Makes a processor the parent of the GPUs that NVLink or another direct link
 * connects to it, in place of their PCIe bridge. Call it before the GPUs are
 * added. */
NW_MUST_CHECK nw_status nw_hwloc_join_processors(
    struct nw_hwloc_build *build, struct nw_hwloc_devices *devices);
/* Adds NVLink, xGMI and Xe links between GPUs and GPU switches. */
NW_MUST_CHECK nw_status nw_hwloc_add_direct(struct nw_hwloc_build *build);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* One of NCCL's files while it is read: its PCI devices, then the links
 * between the GPUs among them. */
#ifndef NW_TOPOLOGY_NCCL_H
#define NW_TOPOLOGY_NCCL_H

#include "topology/single.h"
#include "topology/xml.h"

struct nw_nccl_device {
    const struct nw_xml *pci;
    const char *busid;
    enum nw_vertex_kind kind;
    int32_t parent, vertex, cpu;
    int32_t package;        /* the vertex of that <cpu> */
    double speed;           /* of the way to the parent, bytes/s; 0 unknown */
    enum nw_link_kind link; /* NVLink to a processor; 0 is PCIe */
};

struct nw_nccl {
    const char *file;
    nw_topology *topology;
    struct nw_node_type *type;
    struct nw_nccl_device *device; /* sorted by address */
    size_t count, capacity;
    int32_t cpu_count;
};

/* GPUs whose links end at no GPU and no switch are joined to their processor
 * by them, as on POWER. Before GPUs are added. */
NW_MUST_CHECK nw_status nw_nccl_join_processors(struct nw_nccl *nccl);
/* Links between GPUs and to GPU switches. NW_EFORMAT where the two ends do not
 * agree. */
NW_MUST_CHECK nw_status nw_nccl_direct(struct nw_nccl *nccl);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* One of NCCL's files while it is read: its PCI devices, then the links
 * between the GPUs among them. */
#ifndef NW_TOPOLOGY_GPU_NCCL_H
#define NW_TOPOLOGY_GPU_NCCL_H

#include "topology/gpu/single_node.h"
#include "topology/parse/xml.h"

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
    const char *host;      /* the host_hash that is read; NULL: all are */
    const char *type_name; /* of the host that is read */
};

/* GPUs whose links end at no GPU and no switch are joined to their processor
 * by them, as on POWER. Before GPUs are added. */
NW_MUST_CHECK nw_status nw_nccl_join_processors(struct nw_nccl *nccl);
/* Links between GPUs and to GPU switches. NW_EFORMAT where the two ends do not
 * agree. */
NW_MUST_CHECK nw_status nw_nccl_direct(struct nw_nccl *nccl);

/* Whether the <cpu> tags name several hosts, as a dump of a communicator over
 * several nodes does. */
bool nw_nccl_has_hosts(const struct nw_xml *system);
/* Makes a node of each host, in the order of the file, with the caller's
 * `build` for each, and one assumed switch between them. Hosts that are alike
 * share a type. */
typedef nw_status nw_nccl_builder(struct nw_nccl *nccl,
                                  const struct nw_xml *system);
NW_MUST_CHECK nw_status nw_nccl_hosts(struct nw_nccl *nccl,
                                      const struct nw_xml *system,
                                      nw_nccl_builder *build,
                                      enum nw_elements elements);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the reader of NCCL's files: the PCI devices, then the links
 * between GPUs. */
#ifndef NW_TOPOLOGY_GPU_NCCL_H
#define NW_TOPOLOGY_GPU_NCCL_H

#include "topology/gpu/single_node.h"
#include "topology/parse/xml.h"

/* A PCI device of the file. `kind` is GPU, NIC, or NW_VERTEX_NODE for other
 * devices, which are left out. */
struct nw_nccl_device {
    const struct nw_xml *pci;
    const char *busid;
    enum nw_vertex_kind kind;
    int32_t parent, vertex, cpu;
    int32_t package;        /* vertex of the <cpu> with number `cpu`; 0 if this
                               <cpu> has no vertex */
    double speed;           /* of the link to the parent, bytes/s; 0: unknown */
    enum nw_link_kind link; /* kind of the links to a processor, if there are
                               any; 0: PCIe */
};

/* The state of the reader. */
struct nw_nccl {
    const char *file;
    nw_topology *topology;
    struct nw_node_type *type;
    struct nw_nccl_device *device; /* sorted by PCI address */
    size_t count, capacity;
    int32_t cpu_count;
    const char *host;      /* the host_hash of the host being read; NULL: the
                              file has only one host */
    const char *type_name; /* name for the type of the host being read */
};

/* Finds GPUs whose NVLinks lead to their processor, as on POWER and Grace, and
 * makes this processor their parent. Call it before GPUs are added. */
NW_MUST_CHECK nw_status nw_nccl_join_processors(struct nw_nccl *nccl);
/* Adds links between GPUs and to GPU switches. Returns NW_EFORMAT if the two
 * ends of a link disagree. */
NW_MUST_CHECK nw_status nw_nccl_direct(struct nw_nccl *nccl);

/* Returns true if the <cpu> tags name several hosts, as in a dump of a
 * communicator that spans several nodes. */
bool nw_nccl_has_hosts(const struct nw_xml *system);
/* Makes a node for each host in the order of the file, with one assumed switch
 * between the nodes. build() makes the type of one host; equal hosts share a
 * type. */
typedef nw_status nw_nccl_builder(struct nw_nccl *nccl,
                                  const struct nw_xml *system);
NW_MUST_CHECK nw_status nw_nccl_hosts(struct nw_nccl *nccl,
                                      const struct nw_xml *system,
                                      nw_nccl_builder *build,
                                      enum nw_elements elements);

#endif

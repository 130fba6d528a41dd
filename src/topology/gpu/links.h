/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The GPUs and GPU links of this machine as the vendors' libraries report them:
 * NVML of NVIDIA and ROCm SMI of AMD, loaded at run time if installed. Both
 * fill one list of GPUs and one list of links.
 */
#ifndef NW_TOPOLOGY_GPU_LINKS_H
#define NW_TOPOLOGY_GPU_LINKS_H

#include "topology/topology.h"

#define NW_GPU_MAX 128

/* The distance of two GPUs of one board. */
#define NW_GPU_ONE_BOARD 1

/* The device at the other end of a link. */
enum nw_gpu_far { NW_FAR_GPU, NW_FAR_SWITCH, NW_FAR_PROCESSOR };

/* A GPU that a library reports. */
struct nw_gpu_found {
    char pci[32];  /* 0000:3b:00.0; "" if unknown */
    char uuid[96]; /* "" if unknown */
    char name[96];
};

/* All parallel links from one GPU to one other device. */
struct nw_gpu_link {
    int32_t gpu; /* index into nw_gpu_links.gpu */
    enum nw_gpu_far far;
    char pci[32];  /* PCI address of the other device */
    int32_t count; /* number of active links */
    double rate;   /* bytes/s of one link in one direction; 0: unknown */
    enum nw_link_kind kind;
};

struct nw_gpu_links {
    struct nw_gpu_found gpu[NW_GPU_MAX];
    int32_t gpu_count;
    /* distance of two GPUs as NVML defines it. 10: one PCIe bridge between
     * them; 20: several bridges; 30: a host bridge; 40: one processor; 50:
     * several processors. NW_GPU_ONE_BOARD stands for NVML's 0, two GPUs of one
     * board. 0: unknown */
    uint8_t near[NW_GPU_MAX][NW_GPU_MAX];
    struct nw_gpu_link *link; /* owned */
    size_t link_count, link_capacity;
};

/* These functions append the GPUs and links that a library reports: NVML or
 * ROCm SMI. A missing library is not an error. */
NW_MUST_CHECK nw_status nw_nvml_find(struct nw_gpu_links *links);
NW_MUST_CHECK nw_status nw_rocm_find(struct nw_gpu_links *links);
/* Adds a link. If the list already has a link between the same devices, adds
 * the new link's count to it. */
NW_MUST_CHECK nw_status nw_gpu_links_add(struct nw_gpu_links *links,
                                         const struct nw_gpu_link *link);

/* Adds to an unfinished type what the libraries report: names that hwloc did
 * not report, GPUs if hwloc did not find any, and links if the type has no
 * direct links. */
NW_MUST_CHECK nw_status nw_gpu_links_apply(nw_topology *topology,
                                           struct nw_node_type *type);

#endif

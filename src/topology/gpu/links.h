/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The GPUs and GPU links of this machine from the vendors' libraries: NVIDIA's
 * NVML and AMD's ROCm SMI, loaded at run time if installed. Both fill one list
 * of GPUs and one list of links.
 */
#ifndef NW_TOPOLOGY_GPU_LINKS_H
#define NW_TOPOLOGY_GPU_LINKS_H

#include "topology/topology.h"

#define NW_GPU_MAX 128

enum nw_gpu_far { NW_FAR_GPU, NW_FAR_SWITCH, NW_FAR_PROCESSOR };

struct nw_gpu_found {
    char pci[32];  /* 0000:3b:00.0 */
    char uuid[96]; /* "" if unknown */
    char name[96];
};

/* All links of one GPU to one other end. */
struct nw_gpu_link {
    int32_t gpu; /* among those found */
    enum nw_gpu_far far;
    char pci[32];  /* of the other end */
    int32_t count; /* active links */
    double rate;   /* bytes/s one way of one; 0 unknown */
    enum nw_link_kind kind;
};

struct nw_gpu_links {
    struct nw_gpu_found gpu[NW_GPU_MAX];
    int32_t gpu_count;
    /* distance of two GPUs in NVML's levels (10 one bridge, 20 several, 30 host
     * bridge, 40 processor, 50 node); 0 unknown */
    uint8_t near[NW_GPU_MAX][NW_GPU_MAX];
    struct nw_gpu_link *link; /* owned */
    size_t link_count, link_capacity;
};

/* Each appends to the list. A missing library is not an error. */
NW_MUST_CHECK nw_status nw_nvml_find(struct nw_gpu_links *links);
NW_MUST_CHECK nw_status nw_rocm_find(struct nw_gpu_links *links);
/* One more link of that kind. */
NW_MUST_CHECK nw_status nw_gpu_links_add(struct nw_gpu_links *links,
                                         const struct nw_gpu_link *link);

/* Adds the libraries' results to a type that is being built: names, links (if
 * it has none), GPUs that hwloc did not see. */
NW_MUST_CHECK nw_status nw_gpu_links_apply(nw_topology *topology,
                                           struct nw_node_type *type);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints of the messages of a mapping: the ranks' places on a machine. */
#ifndef NW_COST_ENDPOINTS_H
#define NW_COST_ENDPOINTS_H

#include <nodewise/mapping.h>
#include <nodewise/pattern.h>
#include <nodewise/topology.h>

/* A rank with several cores or GPUs talks from its first. */
struct nw_endpoints {
    struct nw_end *core; /* [ranks] */
    struct nw_end *gpu;  /* [ranks]; node -1 where the rank has none */
    int32_t remote_gpus; /* ranks whose GPU is on another node */
};

/* NW_EINVAL if the mapping has open fields, does not fit the topology, or
 * differs from the pattern in the number of ranks. The caller calls
 * nw_endpoints_fini. */
NW_MUST_CHECK nw_status nw_endpoints_find(const nw_topology *topology,
                                          const nw_pattern *pattern,
                                          const nw_mapping *mapping,
                                          struct nw_endpoints *out);
void nw_endpoints_fini(struct nw_endpoints *ends);

/* Both ends of edge e, which leaves rank src. NW_EINVAL if one end is on a GPU
 * and its rank has no GPU. */
NW_MUST_CHECK nw_status nw_endpoints_of_edge(const struct nw_endpoints *ends,
                                             const nw_pattern *pattern,
                                             int32_t src, size_t e,
                                             struct nw_end out[2]);

#endif

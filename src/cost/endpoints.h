/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the ranks of a mapping are on a machine: the ends of their messages. */
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

/* NW_EINVAL where the mapping is open somewhere, does not fit the topology, or
 * has another number of ranks than the pattern. The caller calls
 * nw_endpoints_fini. */
NW_MUST_CHECK nw_status nw_endpoints_find(const nw_topology *topology,
                                          const nw_pattern *pattern,
                                          const nw_mapping *mapping,
                                          struct nw_endpoints *out);
void nw_endpoints_fini(struct nw_endpoints *ends);

/* Both ends of edge e, which leaves rank src. NW_EINVAL where one is on a GPU
 * that its rank has not. */
NW_MUST_CHECK nw_status nw_endpoints_of_edge(const struct nw_endpoints *ends,
                                             const nw_pattern *pattern,
                                             int32_t src, size_t e,
                                             struct nw_end out[2]);

#endif

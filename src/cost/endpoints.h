/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the endpoints (cores and GPUs) of the messages of a mapping. */
#ifndef NW_COST_ENDPOINTS_H
#define NW_COST_ENDPOINTS_H

#include <nodewise/mapping.h>
#include <nodewise/pattern.h>
#include <nodewise/topology.h>

/* The endpoints of each rank. A rank with several cores or GPUs has its
 * endpoint at the first. */
struct nw_endpoints {
    struct nw_end *core; /* [ranks] */
    struct nw_end *gpu;  /* [ranks] node is -1 if the rank has no GPU */
    int32_t remote_gpus; /* ranks whose GPU is on another node */
};

/* Finds the endpoints of all ranks. Returns NW_EINVAL if a rank's node or core
 * is open, if the mapping does not fit the topology, or if it differs from the
 * pattern in the number of ranks. A rank whose GPU is open counts as a rank
 * without GPU. The caller calls nw_endpoints_fini. */
NW_MUST_CHECK nw_status nw_endpoints_find(const nw_topology *topology,
                                          const nw_pattern *pattern,
                                          const nw_mapping *mapping,
                                          struct nw_endpoints *out);
void nw_endpoints_fini(struct nw_endpoints *ends);

/* Stores both endpoints of edge e, whose source is rank src. Returns NW_EINVAL
 * if one endpoint is a GPU and its rank has no GPU. */
NW_MUST_CHECK nw_status nw_endpoints_of_edge(const struct nw_endpoints *ends,
                                             const nw_pattern *pattern,
                                             int32_t src, size_t e,
                                             struct nw_end out[2]);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums bytes over every link without following each route. Inside a node's tree
 * a message is noted where it begins, ends and turns from up to down. At the
 * end the links get their sums from the leaves up. The sums are exact.
 */
#ifndef NW_COST_FLOWS_H
#define NW_COST_FLOWS_H

#include "topology/topology.h"

#include <nodewise/cost.h>

enum { NW_FLOW_HOST, NW_FLOW_GPU, NW_FLOW_MIXED, NW_FLOW_LAYERS };

struct nw_flows {
    const nw_topology *topology;
    double *latency; /* [links] s */
    double *above;   /* [links] s from a vertex up to its node */
    bool borrows;    /* both are another's */
    /* by layer: [2 x links] what hops carry; [links] what begins at a vertex,
     * ends there, and turns there from up to down */
    nw_uint128 *hop[NW_FLOW_LAYERS], *begun[NW_FLOW_LAYERS];
    nw_uint128 *ended[NW_FLOW_LAYERS], *turned[NW_FLOW_LAYERS];
    bool used[NW_FLOW_LAYERS]; /* others have no arrays */
    int32_t threads;           /* that may sum them up; 0 for one */
};

/* Of the layers that are `used`. A second one beside `first` (NULL: none)
 * borrows its latencies, to be added to it in the end. `threads` is set
 * before. */
NW_MUST_CHECK nw_status nw_flows_init(struct nw_flows *flows,
                                      const nw_topology *topology,
                                      const bool used[NW_FLOW_LAYERS],
                                      const struct nw_flows *first);
void nw_flows_merge(struct nw_flows *to, const struct nw_flows *from);
void nw_flows_fini(struct nw_flows *flows);
/* Adds a message. Returns the latency of its route. */
double nw_flows_add(struct nw_flows *flows, int layer,
                    const struct nw_trail *trail, const uint32_t *hops,
                    uint64_t bytes);
/* Bytes by link and direction, [2 x links], of one layer, or of all layers if
 * `layer` is NW_FLOW_LAYERS. Call it once for each layer, and for all layers
 * last. */
void nw_flows_load(struct nw_flows *flows, int layer, double *load);
/* The one layer that is used, or -1 if several or none are. */
int nw_flows_only(const struct nw_flows *flows);

#endif

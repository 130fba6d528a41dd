/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums bytes over every link without following each route. Inside a node's
 * tree, a message is recorded at the vertex where it begins, the vertex where
 * it ends, and the vertex where its route turns from up to down. At the end,
 * sums over the tree from the leaves up give the bytes of each link. The sums
 * are exact.
 */
#ifndef NW_COST_LINK_BYTES_H
#define NW_COST_LINK_BYTES_H

#include "topology/topology.h"

#include <nodewise/cost.h>

enum { NW_FLOW_HOST, NW_FLOW_GPU, NW_FLOW_MIXED, NW_FLOW_LAYERS };

/* The sums. A layer is one of NW_FLOW_HOST, NW_FLOW_GPU and NW_FLOW_MIXED:
 * messages between host memories, between GPUs, or between a host memory and a
 * GPU. */
struct nw_link_bytes {
    const nw_topology *topology;
    double *latency; /* [links] latency in s */
    double *above;   /* [links] latency in s from the vertex below this link up
                        to the root of its node's tree */
    bool borrows; /* `latency` and `above` belong to the first nw_link_bytes */
    /* for each layer: [2 x links] bytes of routes outside trees; [links] bytes
     * of messages that begin at a vertex, end there, and turn there from up to
     * down */
    nw_uint128 *hop[NW_FLOW_LAYERS], *begun[NW_FLOW_LAYERS];
    nw_uint128 *ended[NW_FLOW_LAYERS], *turned[NW_FLOW_LAYERS];
    bool used[NW_FLOW_LAYERS]; /* unused layers have NULL arrays */
    int32_t threads;           /* maximum number of threads for the final sums;
                                  0 means 1 */
};

/* Prepares sums for the layers that are `used`. If `first` is not NULL,
 * `link_bytes` borrows its latencies and must later be merged into it. The
 * caller sets link_bytes->threads before. */
NW_MUST_CHECK nw_status nw_link_bytes_init(struct nw_link_bytes *link_bytes,
                                           const nw_topology *topology,
                                           const bool used[NW_FLOW_LAYERS],
                                           const struct nw_link_bytes *first);
/* Adds all sums of `from` to `to`. */
void nw_link_bytes_merge(struct nw_link_bytes *to,
                         const struct nw_link_bytes *from);
void nw_link_bytes_fini(struct nw_link_bytes *link_bytes);
/* Adds `bytes` bytes that take a route, whose parts outside trees are in
 * `hops`. Returns the latency of the route in s. */
double nw_link_bytes_add(struct nw_link_bytes *link_bytes, int layer,
                         const struct nw_path *path, const uint32_t *hops,
                         uint64_t bytes);
/* Stores the bytes of each link and direction, [2 x links], of one layer, or of
 * all layers if `layer` is NW_FLOW_LAYERS. A call for one layer changes the
 * sums of this layer, so it must be made only once, and the call for all layers
 * must be the last. */
void nw_link_bytes_load(struct nw_link_bytes *link_bytes, int layer,
                        double *load);
/* Returns the layer that is used if there is only one, else -1. */
int nw_link_bytes_only(const struct nw_link_bytes *link_bytes);

#endif

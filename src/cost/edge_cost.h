/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of costs over the edges of a pattern. A share adds up some of the edges.
 * Several threads may fill shares of one pattern at the same time; the shares
 * are then merged. The result does not depend on the order: integer sums are
 * exact, and fractional sums are kept for each slice of the pattern.
 */
#ifndef NW_COST_EDGE_COST_H
#define NW_COST_EDGE_COST_H

#include "cost/endpoints.h"
#include "cost/link_bytes.h"
#include "cost/intranode.h"

#define NW_SLICES_MOST 64

/* Data that all shares of a pattern read. */
struct nw_edge_cost_common {
    const nw_topology *topology;
    const nw_pattern *pattern;
    struct nw_endpoints ends;
    int32_t threads;
    /* results of nw_topology_is_integral and nw_topology_has_links */
    bool integral, has_links;
    /* whether the pattern has messages of this layer */
    bool used[NW_FLOW_LAYERS];
    struct nw_intranode_types intranode_types;
    bool each_edge; /* add every edge by itself, without intranode.h */
    int32_t slices;
    int32_t first[NW_SLICES_MOST + 1]; /* slice i has the edges from ranks
                                          first[i] to first[i + 1] - 1 */
    double value[NW_SLICES_MOST][NW_FLOW_LAYERS]; /* fractional hop-bytes of
                                                     each slice */
    double latency[NW_SLICES_MOST];               /* sum of latencies of each
                                                     slice in s */
};

/* A share: sums of costs over some edges of the pattern, added by one
 * thread. */
struct nw_edge_cost {
    struct nw_edge_cost_common *of;
    const struct nw_edge_cost
        *first; /* the share whose latencies this share uses; NULL: its own */
    int slice;  /* index of the slice being added */
    /* space for the links of a route */
    uint32_t *hops;
    bool has_link_bytes;
    struct nw_link_bytes link_bytes;
    struct nw_intranode intranode;
    struct nw_intranode_row row;      /* the source rank being added */
    nw_uint128 exact[NW_FLOW_LAYERS]; /* integral hop-bytes */
    uint64_t *level_bytes[2];         /* [levels], index 0: kind hh, 1: other
                                         kinds */
    uint64_t *level_messages[2];
};

/* Prepares the data that all shares read. The pattern is divided into slices,
 * whose number depends only on its size. The caller sets topology, pattern,
 * ends and threads before; nw_edge_cost_common_fini frees `ends` too. */
NW_MUST_CHECK nw_status
nw_edge_cost_common_init(struct nw_edge_cost_common *of);
void nw_edge_cost_common_fini(struct nw_edge_cost_common *of);

/* Initialises a share. If `first` is not NULL, the new share borrows the
 * latencies of that share. */
NW_MUST_CHECK nw_status nw_edge_cost_init(struct nw_edge_cost *share,
                                          struct nw_edge_cost_common *of,
                                          const struct nw_edge_cost *first);
void nw_edge_cost_fini(struct nw_edge_cost *share);
/* Adds the edges of one slice. Returns NW_EFORMAT if a sum overflows, NW_EINVAL
 * if a rank has no endpoint for a message. */
NW_MUST_CHECK nw_status nw_edge_cost_add(struct nw_edge_cost *share,
                                         int32_t slice);
/* Adds the sums of the share `from` to `first`. Returns NW_EFORMAT if a sum
 * overflows. */
NW_MUST_CHECK nw_status nw_edge_cost_merge(struct nw_edge_cost *first,
                                           const struct nw_edge_cost *from);
/* Adds the messages inside nodes that intranode.h collected. Call it once,
 * after all other shares were merged into `first`. Returns NW_EFORMAT if a sum
 * overflows. */
NW_MUST_CHECK nw_status nw_edge_cost_finish(struct nw_edge_cost *first);

#endif

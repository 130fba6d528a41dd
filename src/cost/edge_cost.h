/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums over the edges of some ranks. Several threads may compute shares of one
 * pattern at the same time and add them up: integers give the same sum in any
 * order, and fractional values are kept for each slice of the pattern.
 */
#ifndef NW_COST_EDGE_COST_H
#define NW_COST_EDGE_COST_H

#include "cost/endpoints.h"
#include "cost/flows.h"
#include "cost/intranode.h"

#define NW_SLICES_MOST 64

/* Data that all shares of a pattern read. */
struct nw_edge_cost_common {
    const nw_topology *topology;
    const nw_pattern *pattern;
    struct nw_endpoints ends;
    int32_t threads;
    bool integral, has_links;
    bool used[NW_FLOW_LAYERS];
    struct nw_intranode_types near;
    bool plainly; /* everything edge by edge, in sums of 128 bits */
    int32_t slices;
    int32_t first[NW_SLICES_MOST + 1]; /* ranks first[i] .. first[i + 1] - 1 */
    double value[NW_SLICES_MOST][NW_FLOW_LAYERS]; /* hop-bytes, not integral */
    double latency[NW_SLICES_MOST];               /* s */
};

struct nw_edge_cost {
    struct nw_edge_cost_common *of;
    const struct nw_edge_cost
        *first; /* the share that lends its latencies; NULL for that share */
    int slice;  /* that is being added */
    uint32_t *hops;
    bool has_flows;
    struct nw_flows flows;
    struct nw_intranode near;
    struct nw_intranode_row row;      /* that is being added */
    nw_uint128 exact[NW_FLOW_LAYERS]; /* hop-bytes, integral */
    uint64_t *level_bytes[2];         /* [levels] host, and the rest */
    uint64_t *level_messages[2];
};

/* Cuts the pattern into slices; only its size decides how. The ends are the
 * caller's, nw_edge_cost_common_fini frees them, too. */
NW_MUST_CHECK nw_status
nw_edge_cost_common_init(struct nw_edge_cost_common *of);
void nw_edge_cost_common_fini(struct nw_edge_cost_common *of);

/* `first` is borrowed, and another's latencies are its. */
NW_MUST_CHECK nw_status nw_edge_cost_init(struct nw_edge_cost *share,
                                          struct nw_edge_cost_common *of,
                                          const struct nw_edge_cost *first);
void nw_edge_cost_fini(struct nw_edge_cost *share);
/* Adds one slice. NW_EFORMAT if a sum overflows, NW_EINVAL if a rank has no
 * endpoint for a message. */
NW_MUST_CHECK nw_status nw_edge_cost_add(struct nw_edge_cost *share,
                                         int32_t slice);
NW_MUST_CHECK nw_status nw_edge_cost_merge(struct nw_edge_cost *first,
                                           const struct nw_edge_cost *from);
/* Adds the messages noted inside nodes (intranode.h), after the last slice. */
NW_MUST_CHECK nw_status nw_edge_cost_finish(struct nw_edge_cost *first);

#endif

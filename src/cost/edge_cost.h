/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the edges of some ranks add up to. Several shares of one pattern may be
 * taken at the same time and added up: whole numbers give the same sum in any
 * order, and what is no whole number is kept for each slice of the pattern.
 */
#ifndef NW_COST_EDGE_COST_H
#define NW_COST_EDGE_COST_H

#include "cost/endpoints.h"
#include "cost/flows.h"
#include "cost/intranode.h"

#define NW_SLICES_MOST 64

/* What all shares of a pattern look at. */
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
        *first; /* beside which it is taken; NULL: it is */
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
/* One slice. NW_EFORMAT where a sum passes its bits, NW_EINVAL where a rank has
 * no place for a message. */
NW_MUST_CHECK nw_status nw_edge_cost_add(struct nw_edge_cost *share,
                                         int32_t slice);
NW_MUST_CHECK nw_status nw_edge_cost_merge(struct nw_edge_cost *first,
                                           const struct nw_edge_cost *from);
/* Adds what inside nodes was only noted (intranode.h): after the last slice. */
NW_MUST_CHECK nw_status nw_edge_cost_finish(struct nw_edge_cost *first);

#endif

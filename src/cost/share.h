/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the edges of some ranks add up to. Several shares of one pattern may be
 * taken at the same time and added up: whole numbers give the same sum in any
 * order, and what is no whole number is kept for each slice of the pattern.
 */
#ifndef NW_COST_SHARE_H
#define NW_COST_SHARE_H

#include "cost/ends.h"
#include "cost/flows.h"
#include "cost/near.h"

#define NW_SLICES_MOST 64

/* What all shares of a pattern look at. */
struct nw_shared {
    const nw_topology *topology;
    const nw_pattern *pattern;
    struct nw_ends ends;
    int32_t threads;
    bool integral, has_links;
    bool used[NW_FLOW_LAYERS];
    struct nw_near_types near;
    bool plainly; /* everything edge by edge, in sums of 128 bits */
    int32_t slices;
    int32_t first[NW_SLICES_MOST + 1]; /* ranks first[i] .. first[i + 1] - 1 */
    double value[NW_SLICES_MOST][NW_FLOW_LAYERS]; /* hop-bytes, not integral */
    double latency[NW_SLICES_MOST];               /* s */
};

struct nw_share {
    struct nw_shared *of;
    const struct nw_share *first; /* beside which it is taken; NULL: it is */
    int slice;                    /* that is being added */
    uint32_t *hops;
    bool has_flows;
    struct nw_flows flows;
    struct nw_near near;
    struct nw_near_row row;           /* that is being added */
    nw_uint128 exact[NW_FLOW_LAYERS]; /* hop-bytes, integral */
    uint64_t *level_bytes[2];         /* [levels] host, and the rest */
    uint64_t *level_messages[2];
};

/* Cuts the pattern into slices; only its size decides how. The ends are the
 * caller's, nw_shared_fini frees them, too. */
NW_MUST_CHECK nw_status nw_shared_init(struct nw_shared *of);
void nw_shared_fini(struct nw_shared *of);

/* `first` is borrowed, and another's latencies are its. */
NW_MUST_CHECK nw_status nw_share_init(struct nw_share *share,
                                      struct nw_shared *of,
                                      const struct nw_share *first);
void nw_share_fini(struct nw_share *share);
/* One slice. NW_EFORMAT where a sum passes its bits, NW_EINVAL where a rank has
 * no place for a message. */
NW_MUST_CHECK nw_status nw_share_add(struct nw_share *share, int32_t slice);
NW_MUST_CHECK nw_status nw_share_merge(struct nw_share *first,
                                       const struct nw_share *from);
/* Adds what inside nodes was only noted (near.h): after the last slice. */
NW_MUST_CHECK nw_status nw_share_settle(struct nw_share *first);

#endif

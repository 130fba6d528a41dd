/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways between seats: hops, distance and latency of each pair, kept once asked
 * where seats are few, else asked of the topology each time.
 */
#ifndef NW_MAP_WAYS_H
#define NW_MAP_WAYS_H

#include <nodewise/topology.h>

struct nw_way {
    const uint32_t *hop; /* valid until the next call */
    uint32_t count;
    double distance;
    double latency; /* s; the distance where distances are given */
};

struct nw_kept_way {
    size_t first;
    uint32_t count;
    bool known;
    double distance, latency;
};

struct nw_ways {
    const nw_topology *topology;
    const struct nw_end *end; /* [count], borrowed */
    int32_t count;
    bool wants_hops, wants_latency, wants_distance;
    bool keeps;               /* what was asked, where seats are few */
    double *link_latency;     /* [links], NULL for matrices */
    struct nw_kept_way *kept; /* [count^2] or NULL */
    uint32_t *hop;            /* of all kept ways */
    size_t hop_count, hop_capacity;
    uint32_t *room; /* for one route */
};

/* What is not wanted is 0. The caller calls nw_ways_fini. */
NW_MUST_CHECK nw_status nw_ways_init(struct nw_ways *ways);
void nw_ways_fini(struct nw_ways *ways);
struct nw_way nw_ways_find(struct nw_ways *ways, int32_t a, int32_t b);

#endif

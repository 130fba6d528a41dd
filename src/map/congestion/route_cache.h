/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways between seats: hops, distance and latency of each pair, kept once asked
 * where they are few, else asked of the topology each time. Seats that lie
 * behind links of their own and beside each other, as the cores of a package,
 * are told apart by these links alone: they can be joined to a nook, and ways
 * go between nooks.
 */
#ifndef NW_MAP_CONGESTION_ROUTE_CACHE_H
#define NW_MAP_CONGESTION_ROUTE_CACHE_H

#include <nodewise/topology.h>

struct nw_route {
    const uint32_t *hop; /* valid until the next call */
    uint32_t count;
    double distance; /* with the seats' own links */
    double latency;  /* s, likewise; the distance where distances are given */
};

struct nw_cached_route {
    uint32_t first, more; /* one more than its hops; 0: not known */
    double distance, latency;
};

struct nw_route_cache {
    const nw_topology *topology;
    const struct nw_end *end; /* [count], borrowed */
    int32_t count;
    bool wants_hops, wants_latency, wants_distance;
    bool keeps;             /* what was asked, where nooks are few */
    bool joins;             /* seats to nooks; else each is one of its own */
    int32_t route_classes;  /* at most count */
    int32_t *route_class;   /* [count] */
    int32_t (*slot)[2];     /* [nooks] two of its seats, or one twice */
    uint32_t *own;          /* [count + 1] into own_hop: what seats have to
                               themselves */
    uint32_t (*own_hop)[2]; /* out of the seat, and into it */
    double *link_latency;   /* [links], NULL for matrices */
    struct nw_cached_route *kept; /* [nooks^2] or NULL */
    uint32_t *hop;                /* of all kept ways */
    size_t hop_count, hop_capacity;
    uint32_t *buffer; /* for one route */
    uint64_t asked;   /* how often */
};

/* What is not wanted is 0. The caller calls nw_route_cache_fini. */
NW_MUST_CHECK nw_status nw_route_cache_init(struct nw_route_cache *routes);
void nw_route_cache_fini(struct nw_route_cache *routes);
/* Not yet kept. */
struct nw_route nw_route_cache_compute(struct nw_route_cache *routes, int32_t a,
                                       int32_t b);
/* From any seat of a nook to any other one of another, or of the same; without
 * the links that seats have to themselves. Inline: searches follow them by the
 * hundred million. */
static inline struct nw_route nw_route_cache_find(struct nw_route_cache *routes,
                                                  int32_t a, int32_t b)
{
    const struct nw_cached_route *kept;

    if (!routes->kept)
        return nw_route_cache_compute(routes, a, b);
    kept = &routes->kept[(size_t)a * (size_t)routes->route_classes + (size_t)b];
    if (!kept->more)
        return nw_route_cache_compute(routes, a, b);
    return (struct nw_route){routes->hop + kept->first, kept->more - 1,
                             kept->distance, kept->latency};
}
/* route_classes.c: fills what is told of nooks. */
NW_MUST_CHECK nw_status nw_route_cache_classify(struct nw_route_cache *routes);

#endif

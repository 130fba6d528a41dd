/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routes between slots: hops, distance and latency of each pair. If there are
 * few route classes, a route is computed at its first use and cached, otherwise
 * it is computed at each use. Neighbouring slots, such as the cores of a
 * package, may differ only by the links that belong to one slot alone. Such
 * slots form a route class, and routes are stored between classes.
 */
#ifndef NW_MAP_CONGESTION_ROUTE_CACHE_H
#define NW_MAP_CONGESTION_ROUTE_CACHE_H

#include <nodewise/topology.h>

/* A route between two slots. */
struct nw_route {
    /* directed links of the route; valid until the next call. If messages are
     * striped over several NICs, the routes of all parts follow each other */
    const uint32_t *hop;
    uint32_t count;
    uint32_t stripes; /* each link carries the bytes divided by this number */
    double distance; /* distance between the two slots, including the links that
                        only one of them uses */
    double latency;  /* s, including the links that only one slot uses; equals
                        the distance if a matrix or a hierarchy gives the
                        distances */
};

/* Which figures of routes, and of assignments to slots, are wanted: the links
 * of routes, latency, hop-bytes (distances). */
struct nw_link_loads_wants {
    bool links, latency, hop_bytes;
};

/* A route between two classes as the cache stores it. */
struct nw_cached_route {
    /* index of the first hop in nw_route_cache.hop; 1 + number of hops (0: the
     * route is not cached) */
    uint32_t first, more, stripes;
    double distance, latency;
};

/* The slots, their route classes and the cached routes. */
struct nw_route_cache {
    const nw_topology *topology;
    /* [count] each slot as an end of routes; borrowed */
    const struct nw_end *end;
    int32_t count;
    struct nw_link_loads_wants wants;
    bool keeps; /* routes are to be cached if there are few classes */
    bool joins; /* slots are to be joined to classes; otherwise each slot is a
                   class of its own */
    int32_t route_classes; /* number of route classes, at most `count` */
    int32_t *route_class;  /* [count] class of each slot */
    int32_t (*slot)[2]; /* [route classes] two slots of each class, or its only
                           slot twice */
    uint32_t *own; /* [count + 1] own_hop[own[s]] .. own_hop[own[s + 1] - 1] are
                      the links of slot s alone */
    /* [0]: directed link out of the slot; [1]: the link into it */
    uint32_t (*own_hop)[2];
    double *link_latency;         /* s [links]; NULL if latency is not wanted,
                                     or for a distance matrix */
    struct nw_cached_route *kept; /* [route classes^2] the cache, or NULL */
    uint32_t *hop;                /* hops of all cached routes */
    size_t hop_count, hop_capacity;
    uint32_t *buffer; /* scratch for one route */
    uint64_t asked;   /* number of routes computed */
};

/* The caller sets the fields up to `joins`; the function fills the others.
 * Figures that are not wanted stay 0. The caller calls nw_route_cache_fini,
 * also after a failure. */
NW_MUST_CHECK nw_status nw_route_cache_init(struct nw_route_cache *routes);
void nw_route_cache_fini(struct nw_route_cache *routes);
/* Computes a route, which is not cached, between route classes a and b, and
 * caches it if there is a cache. The routes of the slots of a class differ only
 * by links of one slot alone. */
struct nw_route nw_route_cache_compute(struct nw_route_cache *routes, int32_t a,
                                       int32_t b);
/* Returns the route from any slot of class a to any other slot of class b,
 * without the links of one slot alone. Inline because searches call it hundreds
 * of millions of times. */
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
                             kept->stripes, kept->distance, kept->latency};
}
/* Finds the route classes. Defined in route_classes.c. */
NW_MUST_CHECK nw_status nw_route_cache_classify(struct nw_route_cache *routes);

#endif

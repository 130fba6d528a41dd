/* SPDX-License-Identifier: BSD-3-Clause */
/* A cache of GPU memory that is registered with an endpoint: an interval tree
 * of at most NW_RCACHE_REGIONS allocations. */
#ifndef NW_CHANNEL_MEMORY_REGISTRATION_CACHE_H
#define NW_CHANNEL_MEMORY_REGISTRATION_CACHE_H

#include "channel/fabric/endpoint.h"

#include <nodewise/channel.h>

enum { NW_RCACHE_REGIONS = 64 };

/* One registered allocation, [start, end). `last` is the greatest `end` in the
 * subtree of this node. */
struct nw_region {
    struct nw_region *left, *right;
    uint64_t start, end, last, weight, id, used;
    struct fid_mr *mr;
    unsigned users;
    bool listed; /* the region is in the tree */
};

struct nw_rcache {
    struct nw_region *root;
    uint64_t uses, hits;
    unsigned count;
};

/* Sets *out to the region of a message's GPU memory, and registers the memory
 * if needed. Asks the driver for the buffer id each time, because the cache
 * does not notice when memory is freed; new memory at an old address is
 * registered again. Returns NW_EIO if the provider refuses the memory even
 * after other regions were dropped, or if the driver cannot identify or
 * synchronise the memory (memory of pools, or memory that is mapped piece by
 * piece). */
NW_MUST_CHECK nw_status nw_rcache_take(struct nw_rcache *regions,
                                       struct nw_endpoint *fabric,
                                       const struct nw_channel_message *message,
                                       struct nw_region **out);
/* Like nw_rcache_take, for an allocation that nw_memory_range just returned. */
struct nw_memory_range;
NW_MUST_CHECK nw_status nw_rcache_hold(struct nw_rcache *regions,
                                       struct nw_endpoint *fabric,
                                       const struct nw_memory_range *range,
                                       struct nw_region **out);
/* Ends one use of a region; NULL is ignored. */
void nw_rcache_give(struct nw_region *region);
/* Ends one use of a region that peers may still write to, and drops the region
 * from the cache. */
void nw_rcache_lose(struct nw_rcache *regions, struct nw_region *region);
/* Drops all regions; no region may be in use. */
void nw_rcache_close(struct nw_rcache *regions);
/* Returns the address that peers must name when they write to `memory`, which
 * lies in the region. */
uint64_t nw_region_address(const struct nw_endpoint *fabric,
                           const struct nw_region *region, const void *memory);

#endif

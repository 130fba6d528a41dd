/* SPDX-License-Identifier: BSD-3-Clause */
/* A cache of registrations of GPU memory with one endpoint, for at most
 * NW_RCACHE_REGIONS allocations. */
#ifndef NW_CHANNEL_MEMORY_REGISTRATION_CACHE_H
#define NW_CHANNEL_MEMORY_REGISTRATION_CACHE_H

#include "channel/fabric/endpoint.h"

#include <nodewise/channel.h>

enum { NW_RCACHE_REGIONS = 64 };

/* One registered allocation, which occupies the addresses [start, end). `used`
 * is the value of nw_rcache.uses at the last use. */
struct nw_region {
    uint64_t start, end, id, used;
    struct fid_mr *mr;
    unsigned users;
    bool listed; /* the region is in the cache */
};

struct nw_rcache {
    struct nw_region *item[NW_RCACHE_REGIONS]; /* the first `count` are used, in
                                                  no order */
    unsigned count;
    uint64_t uses, hits;
};

/* Sets *out to the region that contains a message's GPU memory. Registers the
 * memory if the cache has no registration. Each call asks the driver for the
 * buffer id, because the cache does not notice when memory is freed; new memory
 * at an old address is registered again. Returns NW_EIO if the provider refuses
 * the memory even after unused regions were dropped, or if the driver cannot
 * identify or synchronise the memory. The driver cannot for memory of pools or
 * memory mapped by cuMemMap. Returns NW_ECUDA if the driver knows no memory at
 * this address. */
NW_MUST_CHECK nw_status nw_rcache_take(struct nw_rcache *regions,
                                       struct nw_endpoint *fabric,
                                       const struct nw_channel_message *message,
                                       struct nw_region **out);
/* Sets *out to the region of a whole allocation, which nw_memory_range has just
 * returned. Registers the allocation if the cache has no registration. Errors
 * are those of nw_rcache_take. */
struct nw_memory_range;
NW_MUST_CHECK nw_status nw_rcache_hold(struct nw_rcache *regions,
                                       struct nw_endpoint *fabric,
                                       const struct nw_memory_range *range,
                                       struct nw_region **out);
/* Ends one use of a region; NULL is ignored. */
void nw_rcache_give(struct nw_region *region);
/* Ends one use of a region and drops it from the cache, because peers may still
 * write to its memory. */
void nw_rcache_lose(struct nw_rcache *regions, struct nw_region *region);
/* Drops all regions; no region may be in use. */
void nw_rcache_close(struct nw_rcache *regions);
/* Returns the address by which peers name `memory`, which lies in the region,
 * in their remote writes. */
uint64_t nw_region_address(const struct nw_endpoint *fabric,
                           const struct nw_region *region, const void *memory);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* GPU memory registered with an endpoint, kept for the next message: a bounded
 * number of allocations in an interval tree. */
#ifndef NW_CHANNEL_MEMORY_REGISTRATION_CACHE_H
#define NW_CHANNEL_MEMORY_REGISTRATION_CACHE_H

#include "channel/fabric/endpoint.h"

#include <nodewise/channel.h>

enum { NW_RCACHE_REGIONS = 64 };

/* One allocation. `last` is the greatest end of it and all below it. */
struct nw_region {
    struct nw_region *left, *right;
    uint64_t start, end, last, weight, id, used;
    struct fid_mr *mr;
    unsigned users;
    bool listed; /* in the tree */
};

struct nw_rcache {
    struct nw_region *root;
    uint64_t uses, hits;
    unsigned count;
};

/* The region that holds a message's GPU memory, registered now or before. The
 * driver is asked each time whose memory it is: what was freed and given out
 * anew is registered anew, since no call of ours sees it freed. NW_EIO if the
 * provider refuses it, whatever is let go of, and for memory that the driver
 * cannot name or keep in step (of pools, or mapped piece by piece). */
NW_MUST_CHECK nw_status nw_rcache_take(struct nw_rcache *regions,
                                       struct nw_endpoint *fabric,
                                       const struct nw_channel_message *message,
                                       struct nw_region **out);
/* The same, of an allocation that was asked about just now. */
struct nw_memory_range;
NW_MUST_CHECK nw_status nw_rcache_hold(struct nw_rcache *regions,
                                       struct nw_endpoint *fabric,
                                       const struct nw_memory_range *range,
                                       struct nw_region **out);
/* Ends one use; NULL is fine. */
void nw_rcache_give(struct nw_region *region);
/* The same where others may still write to it: nobody gets it again. */
void nw_rcache_lose(struct nw_rcache *regions, struct nw_region *region);
/* All of it; nothing may be in use. */
void nw_rcache_close(struct nw_rcache *regions);
/* What others say to write to `memory`, as it is mapped, inside a region. */
uint64_t nw_region_address(const struct nw_endpoint *fabric,
                           const struct nw_region *region, const void *memory);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The cache is an array, since it holds few registrations. If a region overlaps
 * an allocation and is not the allocation itself, its memory was freed. */
#include "channel/memory/registration_cache.h"

#include "base/array.h"
#include "base/status.h"
#include "channel/memory/hmem.h"

#include <stdlib.h>

static struct nw_region *
registration_cache_overlapping(const struct nw_rcache *regions, uint64_t start,
                               uint64_t end)
{
    for (unsigned i = 0; i < regions->count; i++)
        if (regions->item[i]->start < end && regions->item[i]->end > start)
            return regions->item[i];
    return NULL;
}

static void rcache_list(struct nw_rcache *regions, struct nw_region *region)
{
    regions->item[regions->count++] = region;
    region->listed = true;
}

static void rcache_let_go(struct nw_region *region)
{
    if (region->users || region->listed)
        return;
    nw_endpoint_unregister(region->mr);
    free(region);
}

/* Removes a region from the array. Frees it now, or after its last use if it is
 * in use. */
static void registration_cache_unlist(struct nw_rcache *regions,
                                      struct nw_region *region)
{
    unsigned i = 0;

    while (regions->item[i] != region)
        i++;
    regions->item[i] = regions->item[--regions->count];
    region->listed = false;
    rcache_let_go(region);
}

static bool forget_oldest(struct nw_rcache *regions)
{
    struct nw_region *oldest = NULL;

    for (unsigned i = 0; i < regions->count; i++) {
        struct nw_region *region = regions->item[i];

        if (!region->users && (!oldest || region->used < oldest->used))
            oldest = region;
    }
    if (oldest)
        registration_cache_unlist(regions, oldest);
    return oldest != NULL;
}

/* Registers a region. If that fails, the resources for registrations may be
 * exhausted, so it drops the least recently used region and tries again, until
 * the cache has no unused region. */
static nw_status rcache_enter(struct nw_rcache *regions,
                              struct nw_endpoint *fabric,
                              struct nw_region *region)
{
    size_t bytes = region->end - region->start;
    void *start = (void *)(uintptr_t)region->start;
    nw_status status;

    if (nw_memory_keep_in_step(start))
        return NW_EIO;
    do
        status = nw_hmem_register(fabric, start, bytes, &region->mr);
    while (status && forget_oldest(regions));
    return status;
}

static nw_status rcache_make(struct nw_rcache *regions,
                             struct nw_endpoint *fabric,
                             const struct nw_memory_range *range,
                             struct nw_region **out)
{
    struct nw_region *region = NULL;
    nw_status status = nw_alloc(1, sizeof *region, &region);

    if (status)
        return status;
    region->start = (uintptr_t)range->start;
    region->end = region->start + range->bytes;
    region->id = range->id;
    status = rcache_enter(regions, fabric, region);
    if (status) {
        free(region);
        return status;
    }
    if (regions->count < NW_RCACHE_REGIONS || forget_oldest(regions))
        rcache_list(regions, region);
    *out = region;
    return NW_OK;
}

nw_status nw_rcache_hold(struct nw_rcache *regions, struct nw_endpoint *fabric,
                         const struct nw_memory_range *range,
                         struct nw_region **out)
{
    struct nw_region *region = NULL;
    nw_status status = NW_OK;
    uint64_t start = (uintptr_t)range->start, end = start + range->bytes;

    /* without an id, the cache could not notice that memory was freed */
    if (!range->id)
        return nw_fail(NW_EIO, "the driver has no id of this GPU memory");
    while ((region = registration_cache_overlapping(regions, start, end)) &&
           (region->id != range->id || region->start != start ||
            region->end != end))
        registration_cache_unlist(regions, region);
    if (region)
        regions->hits++;
    else
        status = rcache_make(regions, fabric, range, &region);
    if (status)
        return status;
    region->users++;
    region->used = ++regions->uses;
    *out = region;
    return NW_OK;
}

nw_status nw_rcache_take(struct nw_rcache *regions, struct nw_endpoint *fabric,
                         const struct nw_channel_message *message,
                         struct nw_region **out)
{
    struct nw_memory_range range = {0};
    nw_status status = nw_memory_range(message->buffer, &range);
    size_t offset =
        (size_t)((const char *)message->buffer - (const char *)range.start);

    if (!status && message->bytes > range.bytes - offset)
        status = nw_fail(NW_EIO, "the message lies in several allocations");
    return status ? status : nw_rcache_hold(regions, fabric, &range, out);
}

void nw_rcache_give(struct nw_region *region)
{
    if (!region)
        return;
    region->users--;
    rcache_let_go(region);
}

void nw_rcache_lose(struct nw_rcache *regions, struct nw_region *region)
{
    if (region && region->listed)
        registration_cache_unlist(regions, region);
    nw_rcache_give(region);
}

void nw_rcache_close(struct nw_rcache *regions)
{
    while (regions->count)
        registration_cache_unlist(regions, regions->item[regions->count - 1]);
}

uint64_t nw_region_address(const struct nw_endpoint *fabric,
                           const struct nw_region *region, const void *memory)
{
    bool whole = fabric->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;

    return whole ? (uint64_t)(uintptr_t)memory
                 : (uint64_t)(uintptr_t)memory - region->start;
}

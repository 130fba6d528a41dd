/* SPDX-License-Identifier: BSD-3-Clause */
/* The cache is a treap (randomised search tree), ordered by start address. Each
 * node also stores the greatest end address in its subtree, so that the regions
 * that overlap an allocation are found in logarithmic time. If an overlapping
 * region is not the allocation itself, its memory was freed. */
#include "channel/memory/registration_cache.h"

#include "base/array.h"
#include "base/status.h"
#include "channel/memory/hmem.h"

#include <stdlib.h>

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void sum_up(struct nw_region *node)
{
    node->last = node->end;
    if (node->left)
        node->last = greater(node->last, node->left->last);
    if (node->right)
        node->last = greater(node->last, node->right->last);
}

/* Joins two trees; all nodes of `low` must start before all nodes of `high`. */
static struct nw_region *rcache_join(struct nw_region *low,
                                     struct nw_region *high)
{
    struct nw_region *top;

    if (!low || !high)
        return low ? low : high;
    if (low->weight > high->weight) {
        low->right = rcache_join(low->right, high);
        top = low;
    } else {
        high->left = rcache_join(low, high->left);
        top = high;
    }
    sum_up(top);
    return top;
}

/* Splits a tree: *low gets the nodes that start before `at`, *high the others.
 */
static void rcache_divide(struct nw_region *node, uint64_t at,
                          struct nw_region **low, struct nw_region **high)
{
    if (!node) {
        *low = *high = NULL;
        return;
    }
    if (node->start < at) {
        *low = node;
        rcache_divide(node->right, at, &node->right, high);
    } else {
        *high = node;
        rcache_divide(node->left, at, low, &node->left);
    }
    sum_up(node);
}

static struct nw_region *overlapping(struct nw_region *node, uint64_t start,
                                     uint64_t end)
{
    while (node && (node->start >= end || node->end <= start))
        node =
            node->left && node->left->last > start ? node->left : node->right;
    return node;
}

static void rcache_list(struct nw_rcache *regions, struct nw_region *region)
{
    struct nw_region *low, *high;

    rcache_divide(regions->root, region->start, &low, &high);
    sum_up(region);
    regions->root = rcache_join(rcache_join(low, region), high);
    region->listed = true;
    regions->count++;
}

static void rcache_let_go(struct nw_region *region)
{
    if (region->users || region->listed)
        return;
    nw_endpoint_unregister(region->mr);
    free(region);
}

/* Removes a region from the tree. Frees it now, or after its last use if it is
 * in use. */
static void unlist(struct nw_rcache *regions, struct nw_region *region)
{
    struct nw_region *low, *mid, *high;

    rcache_divide(regions->root, region->start, &low, &mid);
    rcache_divide(mid, region->start + 1, &mid, &high);
    regions->root = rcache_join(low, high);
    region->left = region->right = NULL;
    region->listed = false;
    regions->count--;
    rcache_let_go(region);
}

static struct nw_region *rcache_oldest(struct nw_region *node)
{
    struct nw_region *best = NULL, *both[2];

    if (!node)
        return NULL;
    both[0] = rcache_oldest(node->left);
    both[1] = rcache_oldest(node->right);
    if (!node->users)
        best = node;
    for (int i = 0; i < 2; i++)
        if (both[i] && (!best || both[i]->used < best->used))
            best = both[i];
    return best;
}

static bool forget_oldest(struct nw_rcache *regions)
{
    struct nw_region *region = rcache_oldest(regions->root);

    if (region)
        unlist(regions, region);
    return region != NULL;
}

/* Registers a region. If that fails, the resources for registrations may be
 * exhausted, so it drops the least recently used region and tries again. */
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
    region->weight = (range->id + regions->uses) * 0x9e3779b97f4a7c15u;
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
    while ((region = overlapping(regions->root, start, end)) &&
           (region->id != range->id || region->start != start ||
            region->end != end))
        unlist(regions, region);
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
        unlist(regions, region);
    nw_rcache_give(region);
}

void nw_rcache_close(struct nw_rcache *regions)
{
    while (regions->root)
        unlist(regions, regions->root);
}

uint64_t nw_region_address(const struct nw_endpoint *fabric,
                           const struct nw_region *region, const void *memory)
{
    bool whole = fabric->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;

    return whole ? (uint64_t)(uintptr_t)memory
                 : (uint64_t)(uintptr_t)memory - region->start;
}

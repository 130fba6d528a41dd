/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies GPU memory into host memory by an adapter: an endpoint that is
 * connected only to itself writes into pinned memory of the same process. */
#include "channel/memory/nic_loopback.h"

#include "base/array.h"
#include "base/status.h"
#include "channel/memory/hmem.h"
#include "channel/memory/registration_cache.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

struct nw_loopback {
    struct nw_endpoint fabric;
    struct nw_rcache regions;
    fi_addr_t self;
    char *room;            /* pinned host memory that the adapter writes */
    struct fid_mr *region; /* registration of `room` with libfabric */
    /* a write did not end, so its memory is never freed */
    bool hangs;
    struct fi_context2 context;
};

/* Returns true if the kernel's folder of devices contains any adapter. If not,
 * libfabric is not loaded at all, since loading can take a second. */
static bool has_any(const char *folder)
{
    DIR *devices = opendir(folder);
    const struct dirent *entry = NULL;

    while (devices && (entry = readdir(devices)) && entry->d_name[0] == '.')
        continue;
    if (devices)
        (void)closedir(devices);
    return entry != NULL;
}

static nw_status open_fabric(struct nw_endpoint *out)
{
    static const char *const adapters[] = {"verbs;ofi_rxm", "efa", "cxi", NULL};
    const char *asked[] = {getenv("NODEWISE_CHANNEL_PROVIDER"), NULL};
    const char *const *names = adapters;
    nw_status status;

    if (asked[0] && *asked[0] && strcmp(asked[0], "auto"))
        names = asked;
    if (names == adapters && !has_any("/sys/class/infiniband") &&
        !has_any("/sys/class/cxi"))
        return nw_fail(NW_ENODEV, "no network adapter found");
    status = nw_endpoint_open(names, true, out);
    if (!status && out->hmem == NW_HMEM_NONE) {
        status =
            nw_fail(NW_ENODEV, "no adapter reaches GPU memory: %s", out->why);
        nw_endpoint_close(out);
    }
    return status;
}

nw_status nw_loopback_open(struct nw_loopback **out)
{
    struct nw_loopback *loopback = NULL;
    nw_status status =
        nw_memory_open() ? NW_OK : nw_fail(NW_ENODEV, "no GPU found");

    if (!status)
        status = nw_alloc(1, sizeof *loopback, &loopback);
    if (!status)
        status = open_fabric(&loopback->fabric);
    if (!status)
        status = nw_endpoint_meet(&loopback->fabric, loopback->fabric.name,
                                  &loopback->self);
    if (!status)
        status =
            nw_memory_pinned_new(NW_LOOPBACK_BYTES, (void **)&loopback->room);
    if (!status)
        status = nw_endpoint_register(&loopback->fabric, loopback->room,
                                      NW_LOOPBACK_BYTES, &loopback->region);
    if (status) {
        nw_loopback_close(loopback);
        return status;
    }
    *out = loopback;
    return NW_OK;
}

nw_status nw_loopback_out(struct nw_loopback *loopback, void *to, void *gpu,
                          size_t bytes, const struct nw_memory_range *range)
{
    struct nw_endpoint *fabric = &loopback->fabric;
    struct nw_endpoint_write write = {
        .bytes = bytes,
        .peer = loopback->self,
        .address = nw_endpoint_address(fabric, loopback->room),
        .key = fi_mr_key(loopback->region),
        .context = &loopback->context,
    };
    struct nw_region *region = NULL;
    nw_status status =
        nw_rcache_hold(&loopback->regions, fabric, range, &region);

    if (!status) {
        write.from = gpu;
        write.descriptor = fi_mr_desc(region->mr);
        status = nw_endpoint_write_through(fabric, &write, &loopback->hangs);
    }
    if (!status)
        memcpy(to, loopback->room, bytes);
    if (!loopback->hangs)
        nw_rcache_give(region);
    return status;
}

bool nw_loopback_hangs(const struct nw_loopback *loopback)
{
    return loopback->hangs;
}

/* After a write that hangs, all memory stays until the process ends, because
 * the write may still use it. */
void nw_loopback_close(struct nw_loopback *loopback)
{
    if (!loopback || loopback->hangs)
        return;
    nw_rcache_close(&loopback->regions);
    nw_endpoint_unregister(loopback->region);
    nw_endpoint_close(&loopback->fabric);
    nw_memory_pinned_free(loopback->room);
    free(loopback);
}

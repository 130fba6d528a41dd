/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps GPU memory for the CPU by GDRCopy. Its library is loaded at run time.
 * Mapping takes longer than many small messages, so mappings are cached, up to
 * a fixed number. Memory may be freed and its address used again, so each
 * look-up compares the driver's buffer id with the id in the cache. A mapping
 * stays in the cache while a thread copies through it. */
#include "channel/memory/mapping.h"

#include "base/library.h"
#include "base/status.h"
#include "channel/memory/memory.h"
#include "gpu/gpu.h"

#include <pthread.h>

enum { KEPT = 64, PAGE = 65536 };

struct gdr_handle {
    unsigned long h;
};

static struct {
    void *(*open)(void);
    int (*pin)(void *, unsigned long, size_t, uint64_t, uint32_t,
               struct gdr_handle *);
    int (*unpin)(void *, struct gdr_handle);
    int (*map)(void *, struct gdr_handle, void **, size_t);
    int (*unmap)(void *, struct gdr_handle, void *, size_t);
    int (*write)(struct gdr_handle, void *, const void *, size_t);
    int (*read)(struct gdr_handle, void *, const void *, size_t);
} gdr;

struct gdrcopy_kept {
    uint64_t start; /* start of the pinned pages */
    size_t bytes;
    uint64_t id;    /* the driver's id of the allocation */
    uint64_t used;  /* value of `uses` at the last use */
    unsigned users; /* number of copies through the mapping at present */
    struct gdr_handle handle;
    char *at; /* address for the CPU; NULL: unused entry */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gdrcopy_kept kept[KEPT];
static void *session;
static uint64_t uses;

static bool gdr_open(void)
{
    const struct nw_symbol library[] = {
        {"gdr_open", &gdr.open},
        {"gdr_pin_buffer", &gdr.pin},
        {"gdr_unpin_buffer", &gdr.unpin},
        {"gdr_map", &gdr.map},
        {"gdr_unmap", &gdr.unmap},
        {"gdr_copy_to_mapping", &gdr.write},
        {"gdr_copy_from_mapping", &gdr.read},
    };

    (void)pthread_mutex_lock(&lock);
    if (!session && !nw_library_load("libgdrapi.so.2", library, 7, "to map")) {
        session = gdr.open();
        if (!session)
            (void)nw_fail(NW_ENODEV, "GDRCopy cannot open its kernel module");
    }
    (void)pthread_mutex_unlock(&lock);
    return session != NULL;
}

/* Unmaps the memory of an entry that is not in use. */
static void gdrcopy_let_go(struct gdrcopy_kept *one)
{
    if (!one->at || one->users)
        return;
    (void)gdr.unmap(session, one->handle, one->at, one->bytes);
    (void)gdr.unpin(session, one->handle);
    one->at = NULL;
}

static struct gdrcopy_kept *gdrcopy_find(uint64_t address, size_t bytes,
                                         uint64_t id)
{
    for (struct gdrcopy_kept *one = kept; one < kept + KEPT; one++) {
        if (!one->at || address < one->start ||
            address + bytes > one->start + one->bytes)
            continue;
        if (one->id == id)
            return one;
        /* the old memory was freed, and its address used again */
        gdrcopy_let_go(one);
    }
    return NULL;
}

/* Returns an unused entry, after unmapping the least recently used memory if
 * all entries have memory. Returns NULL if all are in use. */
static struct gdrcopy_kept *gdrcopy_oldest(void)
{
    struct gdrcopy_kept *best = NULL;

    for (struct gdrcopy_kept *one = kept; one < kept + KEPT; one++)
        if (!one->users &&
            (!best || !one->at || (best->at && one->used < best->used)))
            best = one;
    if (best)
        gdrcopy_let_go(best);
    return best;
}

static struct gdrcopy_kept *gdrcopy_keep(void *gpu, size_t length)
{
    struct gdrcopy_kept *one = gdrcopy_oldest();
    struct nw_memory_range range = {0};
    uint64_t start, end;
    void *at = NULL;

    /* the driver's copies become synchronous, so that they stay in order with
     * the CPU's stores */
    if (!one || nw_memory_range(gpu, &range) ||
        length > range.bytes - (size_t)((char *)gpu - (char *)range.start) ||
        nw_memory_keep_in_step(gpu))
        return NULL;
    start = (uintptr_t)range.start & ~(uint64_t)(PAGE - 1);
    end = ((uintptr_t)range.start + range.bytes + PAGE - 1) &
          ~(uint64_t)(PAGE - 1);
    if (gdr.pin(session, start, end - start, 0, 0, &one->handle))
        return NULL;
    if (gdr.map(session, one->handle, &at, end - start)) {
        (void)gdr.unpin(session, one->handle);
        return NULL;
    }
    one->start = start;
    one->bytes = end - start;
    one->id = range.id;
    one->at = at;
    return one;
}

static nw_status gdr_map_at(void *gpu, size_t bytes, struct nw_mapped *out)
{
    uint64_t address = (uint64_t)(uintptr_t)gpu, id = nw_gpu_cuda.id(gpu);
    struct gdrcopy_kept *one = NULL;

    (void)pthread_mutex_lock(&lock);
    if (id) {
        one = gdrcopy_find(address, bytes, id);
        if (!one)
            one = gdrcopy_keep(gpu, bytes);
    }
    if (one) {
        one->used = ++uses;
        one->users++;
        out->at = one->at + (address - one->start);
        out->handle = one->handle.h;
    }
    (void)pthread_mutex_unlock(&lock);
    return one ? NW_OK
               : nw_fail(NW_ECUDA, "GDRCopy does not map %zu bytes at %p",
                         bytes, gpu);
}

static void gdrcopy_release(const struct nw_mapped *mapped)
{
    (void)pthread_mutex_lock(&lock);
    for (struct gdrcopy_kept *one = kept; one < kept + KEPT; one++)
        if (one->at && one->users && one->handle.h == mapped->handle)
            one->users--;
    (void)pthread_mutex_unlock(&lock);
}

static void gdr_write(const struct nw_mapped *mapped, void *to,
                      const void *from, size_t bytes)
{
    (void)gdr.write((struct gdr_handle){mapped->handle}, to, from, bytes);
}

static void gdr_read(const struct nw_mapped *mapped, void *to, const void *from,
                     size_t bytes)
{
    (void)gdr.read((struct gdr_handle){mapped->handle}, to, from, bytes);
}

const struct nw_gpu_mapping nw_gpu_mapping_gdrcopy = {
    .name = "gdrcopy",
    .open = gdr_open,
    .map = gdr_map_at,
    .release = gdrcopy_release,
    .write = gdr_write,
    .read = gdr_read,
};

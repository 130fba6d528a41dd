/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses the fastest path for a copy between host and GPU, by times of the
 * program's own messages, for each direction and size class (power of two).
 * First the driver is compared with the CPU, then the faster of both with the
 * NIC (nic_read.c).
 *
 * The first copies of each allocation use the driver, for two reasons. Mapping
 * memory for a single copy takes longer than it saves. Only the driver's copies
 * wait for earlier work in the default stream. After these copies, the driver's
 * copies of this allocation are made synchronous (keep_in_step), so that copies
 * on all paths stay in order.
 */
#include "runtime/messages/copy_path.h"

#include "base/clock.h"
#include "base/selector.h"
#include "base/status.h"
#include "channel/memory/mapping.h"
#include "channel/memory/memory.h"
#include "gpu/gpu.h"
#include "runtime/messages/nic_read.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BY_DRIVER, BY_CPU };
enum { IN, OUT, DIRECTIONS };
enum { CLASSES = 21, SEEN = 64, FIRST_USES = 2 };
/* The pieces of a message may extend over a range of memory that is this many
 * times as large as the limit for contiguous bytes. */
enum { SPREAD = 64 };
/* Most bytes that the CPU copies, by direction: to the GPU, from the GPU. Each
 * load by the CPU from GPU memory waits for the bus, so the second limit is
 * lower, except if a kernel on the GPU reads for the CPU. */
static const size_t most[DIRECTIONS] = {(size_t)1 << 20, (size_t)1 << 14};

/* An allocation from or to which messages were copied. */
struct seen {
    uint64_t id;
    uint32_t uses;
    /* the driver's copies of this allocation may return before they are
     * complete, because keep_in_step failed */
    bool apart;
    bool barred; /* the CPU cannot map the allocation */
    bool unread; /* a NIC cannot read the allocation */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct nw_gpu_mapping *mapping;
static struct nw_mapped opened; /* opened by nw_copy_path_open */
static bool forced;
/* Protects `selectors` and `seen`. Also held during a copy through a mapping,
 * which must stay valid. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nw_selector selectors[DIRECTIONS][CLASSES];
static struct seen seen[SEEN];

static void open_mapping(void)
{
    const char *reach = getenv("NODEWISE_CHANNEL_REACH");
    const char *copy = getenv("NODEWISE_CHANNEL_COPY");

    if ((reach && !strcmp(reach, "no")) || (copy && !strcmp(copy, "naive")))
        return;
    forced = copy && !strcmp(copy, "fastcopy");
    mapping = nw_gpu_mapping_open();
    nw_gpu_mapping_prepare(mapping);
    nw_nic_read_start(copy);
}

static nw_status copy_path_by_driver(const struct nw_path_copy *descriptor)
{
    int32_t gpu = descriptor->owner->gpu;

    return descriptor->out
               ? nw_memory_copy_out(gpu, descriptor->host, descriptor->device,
                                    descriptor->bytes)
               : nw_memory_copy_in(gpu, descriptor->device, descriptor->host,
                                   descriptor->bytes);
}

static nw_status by_cpu(const struct nw_path_copy *descriptor)
{
    return descriptor->out
               ? nw_gpu_mapping_load(mapping, descriptor->host,
                                     descriptor->device, descriptor->bytes)
               : nw_gpu_mapping_store(mapping, descriptor->device,
                                      descriptor->host, descriptor->bytes);
}

static bool keep_in_step(const struct nw_path_copy *descriptor)
{
    void *before = nw_gpu_cuda.context();
    bool kept = !nw_gpu_cuda.select(descriptor->owner->gpu) &&
                !nw_gpu_cuda.keep_in_step(descriptor->device);

    nw_gpu_cuda.restore(before);
    return kept;
}

/* Counts a copy from or to the allocation. Returns the allocation's entry if
 * paths other than the driver may be used for it, else NULL. */
static struct seen *copy_path_reached(const struct nw_path_copy *descriptor)
{
    const struct nw_pointer *owner = descriptor->owner;
    struct seen *one;

    if (!owner->id ||
        !nw_pointer_holds(owner, descriptor->device, descriptor->bytes))
        return NULL;
    one = &seen[owner->id % SEEN];
    if (one->id != owner->id)
        *one = (struct seen){.id = owner->id};
    if (one->uses <= FIRST_USES && ++one->uses == FIRST_USES + 1)
        one->apart = !keep_in_step(descriptor);
    return one->apart || one->uses <= FIRST_USES ? NULL : one;
}

static bool fits_mapping(const struct nw_path_copy *descriptor)
{
    return mapping && descriptor->bytes <=
                          most[descriptor->out && mapping->map ? OUT : IN];
}

static bool may_map(const struct nw_path_copy *descriptor)
{
    return fits_mapping(descriptor) &&
           (forced || !nw_selector_is_hopeless(
                          selectors[descriptor->out],
                          nw_selector_class(descriptor->bytes, CLASSES)));
}

/* Copies by the CPU or by the driver, as the selector chooses. Copies nothing
 * and leaves *done false in two cases: the CPU cannot map the memory, or the
 * driver should copy and the time of this copy is not needed (`asked` is
 * false). The caller then copies by the driver without holding the lock. */
static nw_status move_near(const struct nw_path_copy *descriptor,
                           struct seen *allocation, bool asked, bool *done)
{
    struct nw_selector *selector =
        &selectors[descriptor->out]
                  [nw_selector_class(descriptor->bytes, CLASSES)];
    bool timed = false;
    int path = BY_DRIVER;
    uint64_t start;
    nw_status status;

    if (!allocation->barred && may_map(descriptor))
        path = forced ? BY_CPU : nw_selector_pick(selector, &timed);
    if (path != BY_CPU && !timed && !asked)
        return NW_OK;
    start = timed ? nw_clock_ns() : 0;
    status =
        path == BY_CPU ? by_cpu(descriptor) : copy_path_by_driver(descriptor);
    if (status && path == BY_CPU) {
        allocation->barred = true;
        return NW_OK;
    }
    *done = true;
    if (!status && timed)
        nw_selector_took(selector, path, nw_clock_ns() - start);
    return status;
}

static nw_status copy_path_move(const struct nw_path_copy *descriptor,
                                struct seen *allocation, bool *done)
{
    bool timed = false;
    bool pulled = !allocation->unread && nw_nic_read_pick(descriptor, &timed);
    uint64_t start = timed ? nw_clock_ns() : 0;
    nw_status status = NW_OK;

    if (pulled)
        *done = nw_nic_read_move(descriptor);
    allocation->unread |= pulled && !*done;
    timed = timed && !allocation->unread;
    if (!*done)
        status = move_near(descriptor, allocation, timed, done);
    if (timed && *done && !status)
        nw_nic_read_took(descriptor, pulled, nw_clock_ns() - start);
    return status;
}

nw_status nw_copy_path_move(const struct nw_path_copy *descriptor)
{
    struct seen *allocation = NULL;
    nw_status status = NW_OK;
    bool done = false;

    (void)pthread_once(&once, open_mapping);
    if (!nw_nic_read_may(descriptor) && !fits_mapping(descriptor))
        return copy_path_by_driver(descriptor);
    (void)pthread_mutex_lock(&lock);
    if (nw_nic_read_may(descriptor) || may_map(descriptor))
        allocation = copy_path_reached(descriptor);
    if (allocation)
        status = copy_path_move(descriptor, allocation, &done);
    (void)pthread_mutex_unlock(&lock);
    return done ? status : copy_path_by_driver(descriptor);
}

char *nw_copy_path_open(const struct nw_path_copy *span)
{
    struct seen *allocation;

    (void)pthread_once(&once, open_mapping);
    if (!mapping || !mapping->map || span->bytes > most[span->out] * SPREAD)
        return NULL;
    (void)pthread_mutex_lock(&lock);
    allocation = copy_path_reached(span);
    if (allocation && allocation->barred)
        allocation = NULL;
    if (allocation && !mapping->map(span->device, span->bytes, &opened))
        return opened.at;
    if (allocation)
        allocation->barred = true;
    (void)pthread_mutex_unlock(&lock);
    return NULL;
}

void nw_copy_path_piece(bool out, char *mapped, char *host, size_t bytes)
{
    if (out)
        nw_mapped_read(mapping, &opened, host, mapped, bytes);
    else
        nw_mapped_write(mapping, &opened, mapped, host, bytes);
}

void nw_copy_path_shut(void)
{
    nw_mapped_release(mapping, &opened);
    (void)pthread_mutex_unlock(&lock);
}

bool nw_copy_path_are_forced(void)
{
    return forced;
}

void nw_copy_path_close(void)
{
    (void)pthread_mutex_lock(&lock);
    nw_gpu_mapping_close(mapping);
    mapping = NULL;
    nw_nic_read_close();
    (void)pthread_mutex_unlock(&lock);
    memset(selectors, 0, sizeof selectors);
    memset(seen, 0, sizeof seen);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies bytes between any two memories. Between host and GPU it uses
 * copy_path.c. Between two GPU buffers the driver copies; up to 4 KiB, the copy
 * goes through host memory if that was faster so far. */
#include "runtime/messages/staging.h"

#include "base/clock.h"
#include "base/selector.h"
#include "channel/memory/memory.h"
#include "gpu/gpu.h"
#include "runtime/messages/copy_path.h"

#include <pthread.h>
#include <string.h>

enum { BY_DRIVER, BY_HOST };
enum { CLASSES = 13 /* size classes of messages of up to 4 KiB */ };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nw_selector selectors[CLASSES];

static nw_status copy_bytes_move(bool out, const void *device, void *host,
                                 size_t bytes)
{
    struct nw_pointer owner;
    nw_status status = nw_messages_open_gpu();

    if (status)
        return status;
    (void)nw_pointer_find(device, &owner);
    return nw_copy_path_move(&(struct nw_path_copy){
        out, (char *)(uintptr_t)device, host, bytes, &owner});
}

static nw_status copy_bytes_by_driver(void *to, const void *from, size_t bytes)
{
    nw_status status = nw_messages_open_gpu();

    return status ? status
                  : nw_memory_copy_over(nw_memory_gpu(to), to, from, bytes);
}

static nw_status copy_bytes_by_host(void *to, const void *from, size_t bytes)
{
    struct nw_host *host = NULL;
    nw_status status = nw_pinned_cache_take(bytes, &host);

    if (!status)
        status = copy_bytes_move(true, from, host->memory, bytes);
    if (!status)
        status = copy_bytes_move(false, to, host->memory, bytes);
    nw_pinned_cache_give(host);
    return status;
}

static int copy_bytes_pick(struct nw_selector *selector, bool *timed)
{
    int path;

    (void)pthread_mutex_lock(&lock);
    path = nw_selector_pick(selector, timed);
    (void)pthread_mutex_unlock(&lock);
    return path;
}

static nw_status between_gpus(void *to, const void *from, size_t bytes)
{
    int class = nw_selector_class(bytes, CLASSES);
    bool few = bytes <= (size_t)1 << class, timed = false;
    int path = few ? copy_bytes_pick(&selectors[class], &timed) : BY_DRIVER;
    uint64_t start = nw_clock_ns();
    nw_status status = path == BY_HOST ? copy_bytes_by_host(to, from, bytes)
                                       : copy_bytes_by_driver(to, from, bytes);

    if (!status && timed) {
        (void)pthread_mutex_lock(&lock);
        nw_selector_took(&selectors[class], path, nw_clock_ns() - start);
        (void)pthread_mutex_unlock(&lock);
    }
    return status;
}

static bool is_on_gpu(const void *memory)
{
    return nw_is_messaging() && nw_gpu_holds(memory);
}

nw_status nw_buffer_copy(void *to, const void *from, size_t bytes)
{
    bool into = is_on_gpu(to), out = is_on_gpu(from);

    if (!bytes)
        return NW_OK;
    if (into && out)
        return between_gpus(to, from, bytes);
    if (into)
        return copy_bytes_move(false, to, (void *)(uintptr_t)from, bytes);
    if (out)
        return copy_bytes_move(true, from, to, bytes);
    memcpy(to, from, bytes);
    return NW_OK;
}

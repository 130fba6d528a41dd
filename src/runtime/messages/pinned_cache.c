/* SPDX-License-Identifier: BSD-3-Clause */
/* A cache of pinned host memory, in sizes that are powers of two up to 64 MiB,
 * and up to a total limit. Memory is kept for reuse, because pinning takes
 * longer than most messages. If the program resets the GPU, memory that was
 * pinned in its context no longer exists; it is neither used nor freed. */
#include "runtime/messages/staging.h"

#include "base/array.h"
#include "base/status.h"
#include "channel/memory/memory.h"
#include "gpu/gpu.h"

#include <pthread.h>
#include <stdlib.h>

enum { SMALLEST = 12, LARGEST = 26, CLASSES = LARGEST - SMALLEST + 1 };
static const size_t MOST_KEPT = (size_t)256 << 20;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nw_host *kept[CLASSES];
/* For each of the QUICK smallest sizes, one piece of memory that was given
 * back; NULL: none. It is exchanged atomically, without the lock. */
enum { QUICK = 6 };
static struct nw_host *quick[QUICK];
static size_t kept_bytes;

static int pinned_cache_class_of(size_t bytes)
{
    int class = 0;

    while (class < CLASSES && ((size_t)1 << (SMALLEST + class)) < bytes)
        class ++;
    return class;
}

static bool host_lives(const struct nw_host *host)
{
    return !host->pinned || nw_gpu_cuda.lives(&host->life);
}

static void pinned_cache_let_go(struct nw_host *host)
{
    if (host->pinned && host_lives(host))
        nw_gpu_cuda.free_pinned(host->memory);
    else if (!host->pinned)
        free(host->memory);
    free(host);
}

static struct nw_host *take_quick(int class)
{
    return class < QUICK
               ? __atomic_exchange_n(&quick[class], NULL, __ATOMIC_ACQ_REL)
               : NULL;
}

static bool give_quick(int class, struct nw_host *host)
{
    struct nw_host *none = NULL;

    return class < QUICK && host->pinned &&
           __atomic_compare_exchange_n(&quick[class], &none, host, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static struct nw_host *take_kept(int class)
{
    struct nw_host *host = take_quick(class);

    if (host)
        return host;
    pthread_mutex_lock(&lock);
    host = kept[class];
    if (host) {
        kept[class] = host->next;
        kept_bytes -= host->bytes;
    }
    pthread_mutex_unlock(&lock);
    return host;
}

/* Pins host memory. First selects a context, since the calling thread may have
 * none. Returns false if the memory cannot be pinned. */
static bool host_pin(struct nw_host *host)
{
    void *before = nw_gpu_cuda.context(), *memory = NULL;
    bool pinned = !nw_gpu_cuda.select(nw_memory_home()) &&
                  !nw_gpu_cuda.alloc_pinned(host->bytes, &memory);

    if (pinned) {
        host->memory = memory;
        host->life = nw_gpu_cuda.life();
    }
    nw_gpu_cuda.restore(before);
    return pinned;
}

nw_status nw_pinned_cache_take(size_t bytes, struct nw_host **out)
{
    int class = pinned_cache_class_of(bytes);
    struct nw_host *host = class < CLASSES ? take_kept(class) : NULL;
    nw_status status;

    while (host && !host_lives(host)) {
        pinned_cache_let_go(host);
        host = take_kept(class);
    }
    if (host) {
        *out = host;
        return NW_OK;
    }
    status = nw_alloc(1, sizeof *host, &host);
    if (status)
        return status;
    host->bytes = class < CLASSES ? (size_t)1 << (SMALLEST + class) : bytes;
    host->pinned = class < CLASSES && host_pin(host);
    if (!host->pinned)
        host->memory = malloc(host->bytes);
    if (!host->memory) {
        free(host);
        return nw_fail(NW_ENOMEM, "out of memory for %zu bytes", bytes);
    }
    *out = host;
    return NW_OK;
}

void nw_pinned_cache_give(struct nw_host *host)
{
    int class = host ? pinned_cache_class_of(host->bytes) : CLASSES;

    if (!host || give_quick(class, host))
        return;
    pthread_mutex_lock(&lock);
    if (host->pinned && kept_bytes + host->bytes <= MOST_KEPT) {
        host->next = kept[class];
        kept[class] = host;
        kept_bytes += host->bytes;
        host = NULL;
    }
    pthread_mutex_unlock(&lock);
    if (host)
        pinned_cache_let_go(host);
}

void nw_pinned_cache_close(void)
{
    struct nw_host *host;

    for (int class = 0; class < CLASSES; class ++)
        while ((host = take_kept(class)) != NULL)
            pinned_cache_let_go(host);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges data between the processes of a job without MPI, through the PMIx
 * server of their launcher (Slurm, Open MPI's mpirun). libpmix is loaded at
 * first use. The few types that are needed are declared here, so that no PMIx
 * header is needed. */
#include "channel/state.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/library.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PMIX_GLOBAL = 3, PMIX_UINT32 = 14, PMIX_BYTE_OBJECT = 27 };
enum { AT_ONCE = -157 }; /* PMIX_OPERATION_SUCCEEDED: no callback follows */
/* PMIX_RANK_WILDCARD: this rank number stands for all ranks */
static const uint32_t whole_job = UINT32_MAX - 1;

struct pmix_proc {
    char job[256];
    uint32_t rank;
};

struct pmix_value {
    uint16_t type;
    union {
        uint32_t number;
        struct {
            char *bytes;
            size_t size;
        } object;
        char room[64]; /* space, since the library's type may be larger */
    } data;
};

typedef void (*pmix_done)(int status, void *context);

static struct {
    int (*init)(struct pmix_proc *me, void *infos, size_t count);
    int (*finalize)(const void *infos, size_t count);
    int (*put)(uint8_t scope, const char *key, struct pmix_value *value);
    int (*commit)(void);
    int (*fence)(const struct pmix_proc *procs, size_t count, const void *infos,
                 size_t info_count, pmix_done done, void *context);
    int (*get)(const struct pmix_proc *proc, const char *key, const void *infos,
               size_t count, struct pmix_value **out);
    const char *(*words)(int status);
} pmix;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct pmix_proc me;
static uint32_t size;
static nw_status joined = NW_ENODEV;
static char why[160];

static nw_status pmix_fail(const char *what, int code)
{
    return nw_fail(NW_EIO, "PMIx fails to %s: %s", what, pmix.words(code));
}

static nw_status pmix_get(uint32_t rank, const char *key,
                          struct pmix_value **out)
{
    struct pmix_proc of = me;
    int code;

    of.rank = rank;
    code = pmix.get(&of, key, NULL, 0, out);
    return code ? pmix_fail("get the data of another rank", code) : NW_OK;
}

static void pmix_leave(void)
{
    (void)pmix.finalize(NULL, 0);
}

static nw_status join_job(void)
{
    const struct nw_symbol symbols[] = {
        {"PMIx_Init", &pmix.init},         {"PMIx_Finalize", &pmix.finalize},
        {"PMIx_Put", &pmix.put},           {"PMIx_Commit", &pmix.commit},
        {"PMIx_Fence_nb", &pmix.fence},    {"PMIx_Get", &pmix.get},
        {"PMIx_Error_string", &pmix.words}};
    struct pmix_value *value = NULL;
    nw_status status;
    int code;

    if (!getenv("PMIX_NAMESPACE"))
        return nw_fail(NW_ENODEV,
                       "the processes of a channel find each other by a "
                       "file, an allgather function or PMIx, and "
                       "PMIX_NAMESPACE is not set: the launcher "
                       "has no PMIx");
    status = nw_library_load("libpmix.so.2", symbols,
                             sizeof symbols / sizeof *symbols,
                             "to meet through PMIx");
    if (status)
        return status;
    code = pmix.init(&me, NULL, 0);
    if (code)
        return pmix_fail("begin", code);
    /* PMIx_Init and PMIx_Finalize must be called equally often. Finalize comes
     * at the very end, because PMIx cannot be started again. */
    (void)atexit(pmix_leave);
    status = pmix_get(whole_job, "pmix.job.size", &value);
    if (status)
        return status;
    size = value->type == PMIX_UINT32 ? value->data.number : 0;
    free(value);
    return size && me.rank < size && size < INT32_MAX
               ? NW_OK
               : nw_fail(NW_EIO, "PMIx does not give the number of ranks");
}

static void join_once(void)
{
    joined = join_job();
    if (joined)
        snprintf(why, sizeof why, "%s", nw_error_text());
}

nw_status nw_pmix_join(int32_t *rank, int32_t *count)
{
    (void)pthread_once(&once, join_once);
    if (joined)
        return nw_fail(joined, "%s", why);
    *rank = (int32_t)me.rank;
    *count = (int32_t)size;
    return NW_OK;
}

/* A pending PMIx fence. Whoever uses it last frees it: the callback of the
 * fence, or the caller if it waits until the fence ends. */
struct fence {
    pthread_mutex_t lock;
    pthread_cond_t came;
    bool done, left;
    int status;
};

static void fence_done(int status, void *context)
{
    struct fence *fence = context;
    bool left;

    (void)pthread_mutex_lock(&fence->lock);
    fence->done = true;
    fence->status = status;
    left = fence->left;
    (void)pthread_cond_signal(&fence->came);
    (void)pthread_mutex_unlock(&fence->lock);
    if (left)
        free(fence);
}

/* Waits for the fence. Returns false if the time is over; the callback then
 * frees the fence. */
static bool pmix_wait_for(struct fence *fence, uint64_t until_ns)
{
    struct timespec until = {(time_t)(until_ns / 1000000000),
                             (long)(until_ns % 1000000000)};
    bool done;

    (void)pthread_mutex_lock(&fence->lock);
    while (!fence->done && nw_clock_ns() < until_ns)
        (void)pthread_cond_timedwait(&fence->came, &fence->lock, &until);
    done = fence->done;
    fence->left = !done;
    (void)pthread_mutex_unlock(&fence->lock);
    return done;
}

/* Waits for a fence of all ranks, after which the data that they have published
 * is available. */
static nw_status pmix_meet(uint64_t until_ns)
{
    struct fence *fence = NULL;
    nw_status status = nw_alloc(1, sizeof *fence, &fence);
    pthread_condattr_t clock;
    int code;

    if (status)
        return status;
    (void)pthread_mutex_init(&fence->lock, NULL);
    (void)pthread_condattr_init(&clock);
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&fence->came, &clock);
    (void)pthread_condattr_destroy(&clock);
    code = pmix.fence(NULL, 0, NULL, 0, fence_done, fence);
    if (code == AT_ONCE)
        code = 0;
    else if (!code && !pmix_wait_for(fence, until_ns))
        return nw_fail(NW_EIO, "not all ranks arrived in time");
    else if (!code)
        code = fence->status;
    free(fence);
    return code ? pmix_fail("meet", code) : NW_OK;
}

static nw_status pmix_put(const char *key, const void *mine, size_t bytes)
{
    struct pmix_value value = {.type = PMIX_BYTE_OBJECT};
    int code;

    value.data.object.bytes = (char *)(uintptr_t)mine;
    value.data.object.size = bytes;
    code = pmix.put(PMIX_GLOBAL, key, &value);
    if (!code)
        code = pmix.commit();
    return code ? pmix_fail("put", code) : NW_OK;
}

nw_status nw_pmix_gather(const void *mine, size_t bytes, uint64_t until_ns,
                         void *all)
{
    /* number of this gather; it agrees on all ranks only if they open their
     * channels in the same order */
    static uint32_t rounds;
    char key[48];
    nw_status status;

    snprintf(key, sizeof key, "nodewise.channel.%u",
             __atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED));
    status = pmix_put(key, mine, bytes);
    if (!status)
        status = pmix_meet(until_ns);
    for (uint32_t i = 0; i < size && !status; i++) {
        struct pmix_value *value = NULL;

        status = pmix_get(i, key, &value);
        if (status)
            break;
        if (value->type != PMIX_BYTE_OBJECT || value->data.object.size != bytes)
            status = nw_fail(NW_EFORMAT, "rank %u speaks another version", i);
        else
            memcpy((char *)all + (size_t)i * bytes, value->data.object.bytes,
                   bytes);
        if (value->type == PMIX_BYTE_OBJECT)
            free(value->data.object.bytes);
        free(value);
    }
    return status;
}

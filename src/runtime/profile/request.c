/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table of data that is stored with handles: plans of persistent requests,
 * receives into GPU memory, and messages of matched probes. In most programs
 * the table is empty, and each function here makes only one comparison.
 */
#include "runtime/profile/request.h"

#include "base/hash.h"
#include "runtime/profile/profile.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum request_what { PLAN, RECEIVE, MESSAGE };

struct kept {
    struct kept *next;
    uint64_t handle;
    enum request_what what;
    bool persistent;
    struct nw_plan plan;
    struct nw_data data; /* buffer of a receive */
    MPI_Comm comm;       /* MPI_COMM_NULL after it was freed */
};

#define BUCKETS 1024
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept *bucket[BUCKETS];
/* numbers of entries in the table: plans, and receives including matched
 * messages */
static int plans, receives;

static uint64_t request_handle(MPI_Request request)
{
    return (uint64_t)(uintptr_t)request;
}

static uint64_t message_handle(MPI_Message message)
{
    return (uint64_t)(uintptr_t)message;
}

static int *request_counter(enum request_what what)
{
    return what == PLAN ? &plans : &receives;
}

static struct kept **request_place(uint64_t handle, bool message)
{
    size_t at = nw_hash_word(0, handle);
    struct kept **kept = &bucket[at % BUCKETS];

    while (*kept &&
           ((*kept)->handle != handle || ((*kept)->what == MESSAGE) != message))
        kept = &(*kept)->next;
    return kept;
}

static void free_kept(struct kept *kept)
{
    if (!kept)
        return;
    free(kept->plan.entry);
    free(kept);
}

/* Removes the entry of a handle from the table and returns it, or NULL if the
 * handle is unknown. The caller frees the entry. */
static struct kept *request_take(uint64_t handle, bool message)
{
    struct kept **at, *kept;

    pthread_mutex_lock(&lock);
    at = request_place(handle, message);
    kept = *at;
    if (kept) {
        *at = kept->next;
        __atomic_fetch_sub(request_counter(kept->what), 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&lock);
    return kept;
}

static void request_keep(struct kept value)
{
    struct kept *kept = malloc(sizeof *kept);

    free_kept(request_take(value.handle, value.what == MESSAGE));
    if (!kept) {
        free(value.plan.entry);
        return;
    }
    *kept = value;
    pthread_mutex_lock(&lock);
    kept->next = NULL;
    *request_place(value.handle, value.what == MESSAGE) = kept;
    __atomic_fetch_add(request_counter(kept->what), 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
}

static bool request_any(enum request_what what)
{
    return __atomic_load_n(request_counter(what), __ATOMIC_RELAXED) > 0;
}

void nw_plan_made(struct nw_plan *plan, MPI_Request request)
{
    request_keep(
        (struct kept){.handle = request_handle(request), .plan = *plan});
}

void nw_started(int count, const MPI_Request *requests)
{
    if (!request_any(PLAN) || !nw_profile_is_on())
        return;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count; i++) {
        struct kept *kept = *request_place(request_handle(requests[i]), false);

        if (kept)
            nw_plan_count(&kept->plan);
    }
    pthread_mutex_unlock(&lock);
}

void nw_request_gone(MPI_Request request)
{
    if (request_any(PLAN) || request_any(RECEIVE))
        free_kept(request_take(request_handle(request), false));
}

static void keep_receive(struct nw_data data, MPI_Comm comm, struct kept kept)
{
    if (!nw_record_wanted() || !nw_data_is_gpu(data))
        return;
    kept.what = RECEIVE;
    kept.data = data;
    kept.comm = comm;
    request_keep(kept);
}

void nw_receive_posted(struct nw_data data, MPI_Comm comm, MPI_Request request)
{
    keep_receive(data, comm, (struct kept){.handle = request_handle(request)});
}

void nw_receive_made(struct nw_data data, MPI_Comm comm, MPI_Request request)
{
    keep_receive(
        data, comm,
        (struct kept){.handle = request_handle(request), .persistent = true});
}

void nw_message_matched(MPI_Comm comm, MPI_Message message)
{
    if (nw_gpu_is_used() && message != MPI_MESSAGE_NULL &&
        message != MPI_MESSAGE_NO_PROC)
        request_keep((struct kept){
            .handle = message_handle(message), .what = MESSAGE, .comm = comm});
}

static MPI_Comm message_comm(MPI_Message message)
{
    struct kept *kept = NULL;
    MPI_Comm comm;

    if (request_any(MESSAGE))
        kept = request_take(message_handle(message), true);
    comm = kept ? kept->comm : MPI_COMM_NULL;
    free_kept(kept);
    return comm;
}

void nw_message_received(struct nw_data data, MPI_Message message,
                         const MPI_Status *status)
{
    MPI_Comm comm = message_comm(message);

    if (comm != MPI_COMM_NULL)
        nw_received(data, comm, status);
}

void nw_message_posted(struct nw_data data, MPI_Message message,
                       MPI_Request request)
{
    MPI_Comm comm = message_comm(message);

    if (comm != MPI_COMM_NULL)
        nw_receive_posted(data, comm, request);
}

void nw_requests_forget(MPI_Comm comm)
{
    if (!request_any(RECEIVE))
        return;
    pthread_mutex_lock(&lock);
    for (size_t b = 0; b < BUCKETS; b++)
        for (struct kept *kept = bucket[b]; kept; kept = kept->next)
            if (kept->what != PLAN && kept->comm == comm)
                kept->comm = MPI_COMM_NULL;
    pthread_mutex_unlock(&lock);
}

void nw_requests_close(void)
{
    for (size_t b = 0; b < BUCKETS; b++)
        while (bucket[b]) {
            struct kept *kept = bucket[b];

            bucket[b] = kept->next;
            free_kept(kept);
        }
    plans = receives = 0;
}

bool nw_requests_are_watched(void)
{
    return request_any(RECEIVE);
}

static void request_completed(MPI_Request request, const MPI_Status *status)
{
    struct kept *kept = NULL, copy;

    pthread_mutex_lock(&lock);
    kept = *request_place(request_handle(request), false);
    if (!kept || kept->what != RECEIVE) {
        pthread_mutex_unlock(&lock);
        return;
    }
    copy = *kept;
    pthread_mutex_unlock(&lock);
    if (copy.comm != MPI_COMM_NULL)
        nw_received(copy.data, copy.comm, status);
    if (!copy.persistent)
        free_kept(request_take(copy.handle, false));
}

void nw_watch_begin(struct nw_watch *watch, int count,
                    const MPI_Request *requests)
{
    size_t n = count > 0 ? (size_t)count : 0;

    *watch = (struct nw_watch){0};
    if (!n || !nw_requests_are_watched())
        return;
    watch->request = malloc(n * sizeof *watch->request);
    watch->status = malloc(n * sizeof *watch->status);
    if (!watch->request || !watch->status) {
        free(watch->request);
        free(watch->status);
        *watch = (struct nw_watch){0};
        return;
    }
    watch->count = count;
    watch->left = requests;
    memcpy(watch->request, requests, n * sizeof *requests);
}

void nw_watch_one_done(MPI_Request request, MPI_Request left, int rc,
                       const MPI_Status *status)
{
    if (!rc)
        request_completed(request, status);
    else if (left == MPI_REQUEST_NULL && request != left)
        nw_request_gone(request);
}

/* Handles request i of several. If `rc` is MPI_ERR_IN_STATUS, the request's own
 * status has the result. */
static void one_done(const struct nw_watch *watch, int i, int rc,
                     const MPI_Status *status)
{
    if (rc == MPI_ERR_IN_STATUS)
        rc = status->MPI_ERROR;
    nw_watch_one_done(watch->request[i], watch->left[i], rc, status);
}

static void end_watch(struct nw_watch *watch)
{
    free(watch->request);
    free(watch->status);
}

void nw_watch_all_done(struct nw_watch *watch, int rc,
                       const MPI_Status *statuses)
{
    for (int i = 0; i < watch->count; i++)
        one_done(watch, i, rc, &statuses[i]);
    end_watch(watch);
}

void nw_watch_some_done(struct nw_watch *watch, int rc, struct nw_some some)
{
    bool told = !rc || rc == MPI_ERR_IN_STATUS;

    for (int i = 0; watch->count && told && i < some.done; i++)
        one_done(watch, some.indices[i], rc, &some.statuses[i]);
    end_watch(watch);
}

void nw_watch_any_done(struct nw_watch *watch, int rc, int index,
                       const MPI_Status *status)
{
    if (index >= 0 && index < watch->count)
        nw_watch_one_done(watch->request[index], watch->left[index], rc,
                          status);
    end_watch(watch);
}

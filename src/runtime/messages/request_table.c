/* SPDX-License-Identifier: BSD-3-Clause */
/* The hash table of tracked requests, with the MPI handle as the key. */
#include "runtime/messages/request_table.h"

#include <pthread.h>
#include <stdlib.h>

enum { BUCKETS = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nw_tracked_request *table[BUCKETS], *taken_first;
static int table_count, held_count;

bool nw_requests_are_tracked(void)
{
    return __builtin_expect(__atomic_load_n(&table_count, __ATOMIC_RELAXED), 0);
}

static struct nw_tracked_request **bucket_of(MPI_Request request)
{
    uint64_t key = (uint64_t)(uintptr_t)request;

    return &table[(key ^ key >> 7 ^ key >> 15) % BUCKETS];
}

void nw_request_table_hold(struct nw_tracked_request *kept)
{
    kept->held = true;
    __atomic_add_fetch(&held_count, 1, __ATOMIC_RELAXED);
}

bool nw_request_table_are_held(void)
{
    return __atomic_load_n(&held_count, __ATOMIC_RELAXED) != 0;
}

void nw_request_table_let_go(struct nw_tracked_request *kept)
{
    if (kept->held)
        __atomic_sub_fetch(&held_count, 1, __ATOMIC_RELAXED);
    kept->held = false;
}

void nw_request_table_remember(struct nw_tracked_request *kept,
                               const MPI_Status *status)
{
    kept->opened = true;
    kept->source = status->MPI_SOURCE;
    kept->tag = status->MPI_TAG;
    kept->bytes = (MPI_Count)nw_stage_received(status);
}

static void add_to_taken(struct nw_tracked_request *kept)
{
    kept->taken_next = taken_first;
    kept->taken_at = &taken_first;
    if (taken_first)
        taken_first->taken_at = &kept->taken_next;
    taken_first = kept;
}

static void remove_from_taken(struct nw_tracked_request *kept)
{
    if (!kept->taken_at)
        return;
    *kept->taken_at = kept->taken_next;
    if (kept->taken_next)
        kept->taken_next->taken_at = kept->taken_at;
    kept->taken_at = NULL;
}

void nw_request_table_free(struct nw_tracked_request *kept)
{
    pthread_mutex_lock(&lock);
    remove_from_taken(kept);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < kept->count; i++)
        nw_buffer_free(kept->buffer[i]);
    nw_matched_drop(kept->caught.from);
    nw_request_table_let_go(kept);
    nw_shadow_comm_drop(kept->owner.shadow);
    if (kept->owned)
        NW_PMPI(Type_free)(&kept->caught.type);
    free(kept->memory);
    free(kept);
}

int nw_request_table_finish_all(struct nw_tracked_request *kept,
                                MPI_Status *status)
{
    struct nw_tracked_request *next;
    int rc = MPI_SUCCESS;

    for (; kept; kept = next) {
        int one = status ? kept->complete(kept, status) : MPI_SUCCESS;

        next = kept->next;
        nw_request_table_free(kept);
        rc = rc ? rc : one;
    }
    return rc;
}

void nw_request_table_put(struct nw_tracked_request *kept)
{
    struct nw_tracked_request **bucket = kept ? bucket_of(kept->request) : NULL,
                              *next;

    pthread_mutex_lock(&lock);
    for (; kept; kept = next) {
        next = kept->next;
        remove_from_taken(kept);
        kept->next = *bucket;
        *bucket = kept;
        __atomic_add_fetch(&table_count, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&lock);
}

struct nw_tracked_request *nw_request_table_take(MPI_Request request, bool all)
{
    struct nw_tracked_request *taken = NULL, **at = bucket_of(request);

    pthread_mutex_lock(&lock);
    while (*at) {
        struct nw_tracked_request *kept = *at;

        if (kept->request == request && (all || !kept->persistent)) {
            *at = kept->next;
            kept->next = taken;
            taken = kept;
            add_to_taken(kept);
            __atomic_sub_fetch(&table_count, 1, __ATOMIC_RELAXED);
        } else {
            at = &kept->next;
        }
    }
    pthread_mutex_unlock(&lock);
    return taken;
}

void nw_request_table_remove(struct nw_tracked_request *kept)
{
    struct nw_tracked_request **at = bucket_of(kept->request);

    pthread_mutex_lock(&lock);
    while (*at != kept)
        at = &(*at)->next;
    *at = kept->next;
    kept->next = NULL;
    __atomic_sub_fetch(&table_count, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
}

bool nw_request_table_inherit(MPI_Comm comm, struct nw_shadow_comm *shadow)
{
    bool any = false;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < BUCKETS; i++)
        for (struct nw_tracked_request *kept = table[i]; kept;
             kept = kept->next)
            any |= nw_comm_owner_leave(&kept->owner, comm, shadow);
    for (struct nw_tracked_request *kept = taken_first; kept;
         kept = kept->taken_next)
        any |= nw_comm_owner_leave(&kept->owner, comm, shadow);
    pthread_mutex_unlock(&lock);
    return any;
}

bool nw_request_table_is_persistent(const struct nw_tracked_request *kept)
{
    return kept->persistent;
}

bool nw_request_table_is_active(const struct nw_tracked_request *kept)
{
    return kept->active;
}

bool nw_request_table_is_opened(const struct nw_tracked_request *kept)
{
    return kept->opened;
}

bool nw_request_table_is_held(const struct nw_tracked_request *kept)
{
    return kept->held;
}

struct nw_tracked_request *
nw_request_table_find(MPI_Request request,
                      bool (*is)(const struct nw_tracked_request *))
{
    struct nw_tracked_request *kept;

    pthread_mutex_lock(&lock);
    kept = *bucket_of(request);
    while (kept && (kept->request != request || !is(kept)))
        kept = kept->next;
    pthread_mutex_unlock(&lock);
    return kept;
}

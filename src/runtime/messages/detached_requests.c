/* SPDX-License-Identifier: BSD-3-Clause */
/* Completes requests that the program freed by MPI_Request_free before they
 * were complete. Their staged buffers must stay until then. */
#include "runtime/messages/request_table.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nw_tracked_request *detached;
/* number of entries of the list; also read without the lock */
static int detached_count;

static void detached_requests_keep(struct nw_tracked_request *first,
                                   struct nw_tracked_request **end)
{
    pthread_mutex_lock(&lock);
    *end = detached;
    detached = first;
    pthread_mutex_unlock(&lock);
}

int nw_message_free(__typeof__(&MPI_Request_free) next, MPI_Request *request)
{
    struct nw_tracked_request *kept;
    bool under_way;

    nw_detached_reap();
    kept = *request == MPI_REQUEST_NULL ? NULL
                                        : nw_request_table_take(*request, true);
    under_way = kept && kept->active && !kept->next;
    if (!under_way) {
        (void)nw_request_table_finish_all(kept, NULL);
        return next(request);
    }
    __atomic_add_fetch(&detached_count, 1, __ATOMIC_RELAXED);
    detached_requests_keep(kept, &kept->next);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

static bool is_send(const struct nw_tracked_request *kept)
{
    return kept->count && kept->buffer[0]->access & NW_READ;
}

/* Finishes a freed request (if it is a receive, copies its data to the GPU) if
 * MPI has completed it. If `wait` is true, first waits until it has, unless it
 * is a receive. Returns false if the request still exists: it is pending, or
 * the test has failed. */
static bool settle_one(struct nw_tracked_request *kept, bool wait)
{
    MPI_Status status;
    int flag = 1, rc;

    if (wait)
        nw_sendrecvs_await(1, &kept->request);
    rc = wait && is_send(kept) ? NW_PMPI(Wait)(&kept->request, &status)
                               : NW_PMPI(Test)(&kept->request, &flag, &status);
    if (!rc && !flag)
        return false;
    if (!rc)
        (void)kept->complete(kept, &status);
    if (kept->persistent && kept->request != MPI_REQUEST_NULL)
        NW_PMPI(Request_free)(&kept->request);
    return kept->request == MPI_REQUEST_NULL;
}

/* Finishes the freed requests that MPI has completed, and frees their entries.
 * If `wait` is true, also waits for each freed send and MPI_Isendrecv. The lock
 * is not held while requests are completed, since an error handler may send
 * messages and free requests. */
static void detached_requests_settle(bool wait)
{
    struct nw_tracked_request *first, **at = &first;

    pthread_mutex_lock(&lock);
    first = detached;
    detached = NULL;
    pthread_mutex_unlock(&lock);
    while (*at) {
        struct nw_tracked_request *kept = *at;

        if (!settle_one(kept, wait)) {
            at = &kept->next;
            continue;
        }
        *at = kept->next;
        kept->next = NULL;
        __atomic_sub_fetch(&detached_count, 1, __ATOMIC_RELAXED);
        /* frees the entry, and withdraws the payload of a request that has
         * failed */
        nw_request_table_fail(kept);
    }
    if (first)
        detached_requests_keep(first, at);
}

void nw_detached_reap(void)
{
    if (__atomic_load_n(&detached_count, __ATOMIC_RELAXED))
        detached_requests_settle(false);
}

void nw_requests_finish(void)
{
    detached_requests_settle(true);
}

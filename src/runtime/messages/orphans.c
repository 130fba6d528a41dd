/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that the program frees while they are under way: we wait for them
 * in its place. */
#include "runtime/messages/kept.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nw_kept *orphans;
static int orphan_count; /* looked at without the lock */

int nw_message_free(__typeof__(&MPI_Request_free) next, MPI_Request *request)
{
    struct nw_kept *kept;
    bool under_way;

    if (nw_pair_free(request))
        return MPI_SUCCESS;
    kept = *request == MPI_REQUEST_NULL ? NULL : nw_kept_take(*request, true);
    under_way = kept && kept->active && !kept->next;
    if (!under_way) {
        (void)nw_kept_finish_all(kept, NULL);
        return next(request);
    }
    pthread_mutex_lock(&lock);
    kept->next = orphans;
    orphans = kept;
    __atomic_add_fetch(&orphan_count, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

static bool is_send(const struct nw_kept *kept)
{
    return kept->count && kept->buffer[0]->way & NW_READ;
}

/* How it ended, after which its handle is none; false: not yet. */
static bool settle_one(struct nw_kept *kept, bool wait)
{
    MPI_Status status;
    int flag = 1, rc;

    rc = wait && is_send(kept) ? NW_PMPI(Wait)(&kept->request, &status)
                               : NW_PMPI(Test)(&kept->request, &flag, &status);
    if (!rc && !flag)
        return false;
    if (!rc)
        (void)nw_kept_finish(kept, &status);
    if (kept->persistent && kept->request != MPI_REQUEST_NULL)
        NW_PMPI(Request_free)(&kept->request);
    return kept->request == MPI_REQUEST_NULL;
}

/* Those orphans that are done; all sends among them where `wait`. */
static void settle(bool wait)
{
    struct nw_kept **at = &orphans;

    while (*at) {
        struct nw_kept *kept = *at;

        if (!settle_one(kept, wait)) {
            at = &kept->next;
            continue;
        }
        *at = kept->next;
        kept->next = NULL;
        __atomic_sub_fetch(&orphan_count, 1, __ATOMIC_RELAXED);
        nw_kept_fail(kept); // nothing is, where it was finished
    }
}

void nw_orphans_reap(void)
{
    if (!__atomic_load_n(&orphan_count, __ATOMIC_RELAXED))
        return;
    pthread_mutex_lock(&lock);
    settle(false);
    pthread_mutex_unlock(&lock);
}

void nw_requests_finish(void)
{
    settle(true);
    nw_pairs_finish();
}

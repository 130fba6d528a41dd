/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Wait, MPI_Test and MPI_Request_get_status*, and the work that a request
 * needs when it completes. */
#include "runtime/messages/request_table.h"

#include <pthread.h>

static void fail_one(struct nw_tracked_request *kept)
{
    if (kept->active)
        nw_direct_unsent(kept->buffer, kept->count);
    kept->active = false;
}

void nw_request_table_fail(struct nw_tracked_request *kept)
{
    for (struct nw_tracked_request *one = kept; one; one = one->next)
        fail_one(one);
    (void)nw_request_table_finish_all(kept, NULL);
}

/* Takes the request's work out of the table. If the request is persistent, its
 * entry stays in the table until the program frees the request. */
static void wait_one_find(struct nw_ending *ending)
{
    MPI_Request request = ending->request;

    ending->found = true;
    if (request == MPI_REQUEST_NULL)
        return;
    ending->kept = nw_request_table_take(request, false);
    if (!ending->kept)
        ending->persistent =
            nw_request_table_find(request, nw_request_table_is_persistent);
}

/* If the process has a single thread, nothing is taken out of the table here:
 * that is done after the request has completed. */
void nw_request_begin(MPI_Request request, struct nw_ending *out)
{
    *out = (struct nw_ending){.request = request};
    if (nw_threaded)
        wait_one_find(out);
}

void nw_request_back(struct nw_ending *ending)
{
    if (ending->kept)
        nw_request_table_put(ending->kept);
}

static int end_persistent(struct nw_tracked_request *kept, MPI_Status *status)
{
    int rc = kept->complete(kept, status);

    kept->opened = false;
    nw_request_table_let_go(kept);
    return rc;
}

int nw_request_end(struct nw_ending *ending, MPI_Status *status)
{
    struct nw_ending end;

    if (!ending->found)
        wait_one_find(ending);
    end = *ending;
    *ending = (struct nw_ending){.found = true};
    if (end.persistent)
        return end_persistent(end.persistent, status);
    return nw_request_table_finish_all(end.kept, status);
}

/* Ends a persistent request that failed. lives: MPI still has the request
 * (MPICH keeps it, Open MPI frees it). */
static void fail_persistent(struct nw_tracked_request *kept, bool lives)
{
    fail_one(kept);
    kept->opened = false;
    nw_request_table_let_go(kept);
    if (lives)
        return;
    nw_request_table_remove(kept);
    nw_request_table_free(kept);
}

void nw_request_fail(struct nw_ending *ending, MPI_Request left)
{
    bool lives = left != MPI_REQUEST_NULL;
    struct nw_ending end;

    if (!ending->found)
        wait_one_find(ending);
    end = *ending;
    *ending = (struct nw_ending){.found = true};
    if (end.persistent)
        fail_persistent(end.persistent, lives);
    else if (lives)
        nw_request_back(&end);
    else
        nw_request_table_fail(end.kept);
}

int nw_message_wait(__typeof__(&MPI_Wait) next, MPI_Request *request,
                    MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    struct nw_ending ending;
    int rc;

    nw_sendrecvs_await(1, request);
    nw_request_begin(*request, &ending);
    rc = next(request, seen);
    if (!rc)
        return nw_request_end(&ending, seen);
    nw_request_fail(&ending, *request);
    return rc;
}

int nw_message_test(__typeof__(&MPI_Test) next, MPI_Request *request, int *flag,
                    MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    struct nw_ending ending;
    int rc;

    nw_sendrecvs_look();
    nw_request_begin(*request, &ending);
    rc = next(request, flag, seen);
    if (rc)
        nw_request_fail(&ending, *request);
    else if (*flag)
        rc = nw_request_end(&ending, seen);
    else
        nw_request_back(&ending);
    return rc;
}

int nw_request_held(int count, const MPI_Request *requests, MPI_Status *status)
{
    if (!nw_request_table_are_held())
        return -1;
    for (int i = 0; i < count; i++)
        if (requests[i] != MPI_REQUEST_NULL &&
            nw_request_table_find(requests[i], nw_request_table_is_held)) {
            struct nw_ending ending;

            NW_PMPI(Status_set_cancelled)(status, 0);
            status->MPI_ERROR = MPI_SUCCESS;
            nw_request_begin(requests[i], &ending);
            (void)nw_request_end(&ending, status);
            return i;
        }
    return -1;
}

/* Held while requests are completed, so that only one thread completes each.
 * The entries of a pending request stay in the table, since the program may ask
 * for its status again. The mutex is recursive, since an error handler of the
 * program may run while it is held. */
static pthread_mutex_t looking = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static int wait_one_look(MPI_Request request, MPI_Status *status)
{
    struct nw_tracked_request *kept;
    int rc = MPI_SUCCESS;

    pthread_mutex_lock(&looking);
    while ((kept = nw_request_table_find(request,
                                         nw_request_table_is_active)) != NULL) {
        int one = kept->complete(kept, status);

        rc = rc ? rc : one;
    }
    kept = nw_request_table_find(request, nw_request_table_is_opened);
    if (kept) // sets the status again
        (void)kept->complete(kept, status);
    pthread_mutex_unlock(&looking);
    return rc;
}

/* MPI_Request_get_status does not free the request. But when it reports
 * completion, the program's buffer must already contain the data. */
int nw_message_look(__typeof__(&MPI_Request_get_status) next,
                    MPI_Request request, int *flag, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int rc, bad = MPI_SUCCESS;

    nw_sendrecvs_look();
    rc = next(request, flag, seen);
    if (!rc && *flag)
        bad = wait_one_look(request, seen);
    return rc ? rc : bad;
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
/* Like nw_message_look for request `at` of an array, after the MPI library has
 * said that this request is complete. `statuses` may be MPI_STATUSES_IGNORE;
 * otherwise the status is stored in statuses[slot]. */
static int wait_one_look_at(MPI_Request *requests, int at, MPI_Status *statuses,
                            int slot)
{
    int flag;

    return nw_message_look(NW_PMPI(Request_get_status), requests[at], &flag,
                           statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE
                                                           : &statuses[slot]);
}

int nw_message_look_all(__typeof__(&MPI_Request_get_status_all) next, int count,
                        MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    int rc;

    nw_sendrecvs_look();
    rc = next(count, requests, flag, statuses);
    for (int i = 0; !rc && *flag && i < count; i++)
        rc = wait_one_look_at(requests, i, statuses, i);
    return rc;
}

int nw_message_look_any(__typeof__(&MPI_Request_get_status_any) next, int count,
                        MPI_Request *requests, int *index, int *flag,
                        MPI_Status *status)
{
    int rc;

    nw_sendrecvs_look();
    rc = next(count, requests, index, flag, status);
    if (!rc && *flag && *index != MPI_UNDEFINED)
        rc = nw_message_look(NW_PMPI(Request_get_status), requests[*index],
                             flag, status);
    return rc;
}

int nw_message_look_some(__typeof__(&MPI_Request_get_status_some) next,
                         int count, MPI_Request *requests, int *done,
                         int *indices, MPI_Status *statuses)
{
    int rc;

    nw_sendrecvs_look();
    rc = next(count, requests, done, indices, statuses);
    for (int i = 0; !rc && i < *done; i++) // MPI_UNDEFINED is negative
        rc = wait_one_look_at(requests, indices[i], statuses, i);
    return rc;
}
#endif

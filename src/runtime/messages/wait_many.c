/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that complete several requests, such as MPI_Waitall and MPI_Testsome.
 */
#include "runtime/messages/staging.h"

#include <stdlib.h>

enum { FEW = 16 };

/* State of one call that completes several requests. ending[i]: the work that
 * Nodewise does when request i completes. status[i]: the program's status, or
 * one in memory of Nodewise if the program passed MPI_STATUSES_IGNORE. */
struct several {
    int count; /* number of requests */
    const MPI_Request *request;
    struct nw_ending *ending, few_endings[FEW];
    MPI_Status *status, few_statuses[FEW];
};

/* Returns false, after calling the error handler, if memory is exhausted. */
static bool several_open(struct several *several, int count,
                         const MPI_Request *requests, MPI_Status *statuses)
{
    size_t n = count < 0 ? 0 : (size_t)count;
    bool own = statuses == MPI_STATUSES_IGNORE;

    several->count = 0;
    several->request = requests;
    several->ending = several->few_endings;
    several->status = own ? several->few_statuses : statuses;
    if (n > FEW) {
        several->ending = malloc(n * sizeof *several->ending);
        if (own)
            several->status = malloc(n * sizeof(MPI_Status));
    }
    if (!several->ending || !several->status) {
        (void)nw_stage_raise(NW_OF_COMM(MPI_COMM_WORLD), MPI_ERR_NO_MEM);
        return false;
    }
    several->count = (int)n;
    for (size_t i = 0; i < n; i++)
        nw_request_begin(requests[i], &several->ending[i]);
    return true;
}

/* Ends the call. The work of requests that are still pending goes back into the
 * table of requests, from which nw_request_begin may have taken it. */
static void several_close(struct several *several, const MPI_Status *statuses)
{
    for (int i = 0; i < several->count; i++)
        nw_request_back(&several->ending[i]);
    if (several->ending != several->few_endings)
        free(several->ending);
    if (several->status != several->few_statuses && several->status != statuses)
        free(several->status);
}

/* Does the work of one request (for example copies received data to the GPU)
 * after MPI's call has returned `rc`. `request` and `status` are the indexes of
 * the request and its status in several->request and several->status. If `rc`
 * is MPI_ERR_IN_STATUS, the error code of the request is in its status. Returns
 * an MPI error code. */
static int done_one(struct several *several, int request, int status, int rc)
{
    MPI_Status *seen = &several->status[status];

    if (rc == MPI_ERR_IN_STATUS && seen->MPI_ERROR == MPI_ERR_PENDING)
        return MPI_SUCCESS;
    if (!rc || (rc == MPI_ERR_IN_STATUS && !seen->MPI_ERROR))
        return nw_request_end(&several->ending[request], seen);
    if (rc == MPI_ERR_IN_STATUS ||
        several->request[request] == MPI_REQUEST_NULL)
        nw_request_fail(&several->ending[request], several->request[request]);
    return MPI_SUCCESS;
}

/* Notes the error `one` (0: no error) that Nodewise met in a request: stores it
 * in the status of the request and sets *rc to MPI_ERR_IN_STATUS, as MPI does.
 */
static void wait_many_note(struct several *several, int count, int status,
                           int *rc, int one)
{
    if (!one)
        return;
    for (int i = 0; i < count && !*rc; i++)
        several->status[i].MPI_ERROR = MPI_SUCCESS;
    several->status[status].MPI_ERROR = one;
    *rc = MPI_ERR_IN_STATUS;
}

static int done_all(struct several *several, int rc)
{
    for (int i = 0; i < several->count; i++)
        wait_many_note(several, several->count, i, &rc,
                       done_one(several, i, i, rc));
    return rc;
}

int nw_message_waitall(__typeof__(&MPI_Waitall) next, int count,
                       MPI_Request *requests, MPI_Status *statuses)
{
    struct several several;
    int rc = MPI_ERR_NO_MEM;

    if (several_open(&several, count, requests, statuses)) {
        nw_sendrecvs_await(count, requests);
        rc = next(count, requests, several.status);
        rc = done_all(&several, rc);
    }
    several_close(&several, statuses);
    return rc;
}

int nw_message_testall(__typeof__(&MPI_Testall) next, int count,
                       MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    struct several several;
    int rc = MPI_ERR_NO_MEM;

    if (several_open(&several, count, requests, statuses)) {
        nw_sendrecvs_look();
        rc = next(count, requests, flag, several.status);
        if (rc || *flag)
            rc = done_all(&several, rc);
    }
    several_close(&several, statuses);
    return rc;
}

/* Does the work of the request that MPI_Waitany or MPI_Testany has completed,
 * for example copies received data to the GPU. Returns an MPI error code. */
static int done_any(struct several *several, int index, MPI_Status *status,
                    int rc)
{
    if (index == MPI_UNDEFINED || index < 0)
        return rc;
    if (!rc)
        return nw_request_end(&several->ending[index], status);
    nw_request_fail(&several->ending[index], several->request[index]);
    return rc;
}

int nw_message_testany(__typeof__(&MPI_Testany) next, int count,
                       MPI_Request *requests, int *index, int *flag,
                       MPI_Status *status)
{
    struct several several;
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int rc = MPI_ERR_NO_MEM;

    *index = nw_request_held(count, requests, seen);
    *flag = *index >= 0;
    if (*flag)
        return MPI_SUCCESS;
    if (several_open(&several, count, requests, MPI_STATUSES_IGNORE)) {
        *index = MPI_UNDEFINED;
        nw_sendrecvs_look();
        rc = next(count, requests, index, flag, seen);
        rc = done_any(&several, rc || *flag ? *index : MPI_UNDEFINED, seen, rc);
    }
    several_close(&several, MPI_STATUSES_IGNORE);
    return rc;
}

int nw_message_waitany(__typeof__(&MPI_Waitany) next, int count,
                       MPI_Request *requests, int *index, MPI_Status *status)
{
    struct several several;
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int rc = MPI_ERR_NO_MEM, flag = 0;

    if (nw_sendrecvs_are_busy(count, requests)) {
        do
            rc = nw_message_testany(NW_PMPI(Testany), count, requests, index,
                                    &flag, status);
        while (!rc && !flag);
        return rc;
    }
    *index = nw_request_held(count, requests, seen);
    if (*index >= 0)
        return MPI_SUCCESS;
    if (several_open(&several, count, requests, MPI_STATUSES_IGNORE)) {
        *index = MPI_UNDEFINED;
        rc = next(count, requests, index, seen);
        rc = done_any(&several, *index, seen, rc);
    }
    several_close(&several, MPI_STATUSES_IGNORE);
    return rc;
}

int nw_message_some(__typeof__(&MPI_Waitsome) next, int count,
                    MPI_Request *requests, int *outcount, int *indices,
                    MPI_Status *statuses)
{
    struct several several;
    int rc = MPI_ERR_NO_MEM;

    if (several_open(&several, count, requests, statuses)) {
        int held = nw_request_held(count, requests, several.status);

        if (held >= 0) {
            *outcount = 1;
            *indices = held;
            several_close(&several, statuses);
            return MPI_SUCCESS;
        }
        nw_sendrecvs_look();
        rc = next(count, requests, outcount, indices, several.status);
        for (int i = 0; *outcount != MPI_UNDEFINED && i < *outcount &&
                        (!rc || rc == MPI_ERR_IN_STATUS);
             i++)
            wait_many_note(&several, *outcount, i, &rc,
                           done_one(&several, indices[i], i, rc));
    }
    several_close(&several, statuses);
    return rc;
}

int nw_message_waitsome(__typeof__(&MPI_Waitsome) next, int count,
                        MPI_Request *requests, int *outcount, int *indices,
                        MPI_Status *statuses)
{
    int rc;

    if (!nw_sendrecvs_are_busy(count, requests))
        return nw_message_some(next, count, requests, outcount, indices,
                               statuses);
    do
        rc = nw_message_some(NW_PMPI(Testsome), count, requests, outcount,
                             indices, statuses);
    while (!rc && !*outcount);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that end one request, and what is done then. */
#include "runtime/messages/kept.h"

#include <nodewise/status.h>

/* Its end was looked at before, where MPI tells of the envelope. */
static void see_again(const struct nw_kept *kept, MPI_Status *status)
{
    if (!kept->opened)
        return;
    status->MPI_SOURCE = kept->source;
    status->MPI_TAG = kept->tag;
    NW_PMPI(Status_set_elements_x)(status, MPI_BYTE, kept->bytes);
}

void nw_kept_remember(struct nw_kept *kept, const MPI_Status *status)
{
    kept->opened = true;
    kept->source = status->MPI_SOURCE;
    kept->tag = status->MPI_TAG;
    kept->bytes = (MPI_Count)nw_stage_received(status);
}

/* Whether an envelope was opened. */
static bool open_caught(struct nw_kept *kept, MPI_Status *status, int *rc)
{
    bool opened, given = kept->caught.from != NULL;

    nw_given_end(kept->caught.from, status);
    kept->caught.from = NULL;
    opened = nw_envelope_open(&kept->caught, status, rc);
    if (opened || given)
        nw_kept_remember(kept, status);
    return opened;
}

/* The program sees the end of it: what came goes where it belongs. */
int nw_kept_finish(struct nw_kept *kept, MPI_Status *status)
{
    nw_status bad = NW_OK;
    int cancelled = 0, rc = MPI_SUCCESS;
    uint64_t most;

    if (!kept->active) {
        see_again(kept, status);
        return MPI_SUCCESS;
    }
    kept->active = false;
    if (!kept->whole) // what cannot be cancelled may say anything
        NW_PMPI(Test_cancelled)(status, &cancelled);
    if (cancelled)
        nw_direct_unsent(kept->buffer, kept->count);
    else if (kept->caught.on && open_caught(kept, status, &rc))
        return nw_stage_raise(kept->whose, rc);
    most = kept->whole ? UINT64_MAX : nw_stage_received(status);
    for (int i = 0; i < kept->count && !bad && !cancelled; i++)
        if (kept->buffer[i]->way & NW_WRITE)
            bad = nw_buffer_empty(kept->buffer[i], most);
    return bad ? nw_stage_error(kept->whose, kept->call, nw_error_text())
               : MPI_SUCCESS;
}

int nw_kept_finish_all(struct nw_kept *kept, MPI_Status *status)
{
    struct nw_kept *next;
    int rc = MPI_SUCCESS;

    for (; kept; kept = next) {
        int one = status ? nw_kept_finish(kept, status) : MPI_SUCCESS;

        next = kept->next;
        nw_kept_free(kept);
        rc = rc ? rc : one;
    }
    return rc;
}

int nw_request_end(MPI_Request request, MPI_Status *status)
{
    struct nw_kept *persistent;
    int paired;

    if (request == MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    if (nw_pair_end(request, status, &paired))
        return paired;
    persistent = nw_kept_find(request, nw_kept_is_persistent);
    if (persistent && !status) {
        persistent->active = false;
    } else if (persistent) {
        int rc = nw_kept_finish(persistent, status);

        persistent->opened = false;
        nw_kept_let_go(persistent);
        return rc;
    }
    return nw_kept_finish_all(nw_kept_take(request, false), status);
}

int nw_message_wait(__typeof__(&MPI_Wait) next, MPI_Request *request,
                    MPI_Status *status)
{
    MPI_Request handle = *request;
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int rc, bad;

    nw_pairs_await(1, request);
    rc = next(request, seen);
    bad = nw_request_end(handle, rc ? NULL : seen);
    return rc ? rc : bad;
}

int nw_message_test(__typeof__(&MPI_Test) next, MPI_Request *request, int *flag,
                    MPI_Status *status)
{
    MPI_Request handle = *request;
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int rc, bad = MPI_SUCCESS;

    nw_pairs_look();
    rc = next(request, flag, seen);
    if (rc || *flag)
        bad = nw_request_end(handle, rc ? NULL : seen);
    return rc ? rc : bad;
}

int nw_request_held(int count, const MPI_Request *requests, MPI_Status *status)
{
    if (!nw_kept_are_held())
        return -1;
    for (int i = 0; i < count; i++)
        if (requests[i] != MPI_REQUEST_NULL &&
            nw_kept_find(requests[i], nw_kept_is_held)) {
            NW_PMPI(Status_set_cancelled)(status, 0);
            status->MPI_ERROR = MPI_SUCCESS;
            (void)nw_request_end(requests[i], status);
            return i;
        }
    return -1;
}

/* Those of a request that lives on stay, for its status. */
static int look(MPI_Request request, MPI_Status *status)
{
    struct nw_kept *kept;
    int rc = MPI_SUCCESS;

    while ((kept = nw_kept_find(request, nw_kept_is_active)) != NULL) {
        int one = nw_kept_finish(kept, status);

        rc = rc ? rc : one;
    }
    kept = nw_kept_find(request, nw_kept_is_opened);
    if (kept)
        see_again(kept, status);
    return rc;
}

/* The request lives on, but its end was seen: the buffer must be right. */
int nw_message_look(__typeof__(&MPI_Request_get_status) next,
                    MPI_Request request, int *flag, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int rc, bad = MPI_SUCCESS;

    nw_pairs_look();
    rc = next(request, flag, seen);
    if (!rc && *flag && !nw_pair_see(request, seen, &bad))
        bad = look(request, seen);
    return rc ? rc : bad;
}

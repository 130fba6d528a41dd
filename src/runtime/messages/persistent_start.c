/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Start and MPI_Startall: fill the staged buffers of persistent sends, and
 * start the requests. */
#include "runtime/messages/request_table.h"

#include <nodewise/status.h>

static int persistent_start_fill(struct nw_tracked_request *kept)
{
    nw_status bad = NW_OK;

    for (int i = 0; i < kept->count && !bad; i++)
        if (kept->buffer[i]->slot)
            bad = nw_direct_persistent(kept->buffer[i]);
        else if (kept->buffer[i]->access & NW_READ)
            bad = nw_buffer_fill(kept->buffer[i], false);
    kept->active = !bad;
    return bad ? nw_stage_error(kept->whose, kept->call, nw_error_text())
               : MPI_SUCCESS;
}

/* Starts a persistent receive whose message a probe has taken out of MPI's
 * queue: the message is received at once, and MPI's request is not started.
 * Returns an MPI error code. */
static int persistent_start_hold(struct nw_tracked_request *kept,
                                 MPI_Message message)
{
    MPI_Status status;
    int rc = NW_LARGE(Mrecv, kept->caught.buffer, kept->caught.count,
                      kept->caught.type, &message, &status);

    nw_request_table_remember(kept, &status);
    nw_request_table_hold(kept);
    return rc;
}

/* The state of a request before and while MPI starts it. held: a message in the
 * list of unexpected.c was received, so MPI does not start the request. */
struct begun {
    struct nw_tracked_request *kept; /* NULL: the request is not tracked as
                                        persistent */
    bool held, was_active;
    bool posting; /* nw_post_begin (messages.h) has blocked the probes of other
                     threads */
};

/* Takes a message that matches the persistent receive from the list of messages
 * that probes took out of MPI's queue. Returns false if none matches. */
static bool persistent_start_take(struct begun *one, MPI_Message *message)
{
    const struct nw_catch *caught = &one->kept->caught;

    if (!caught->on)
        return false;
    if (!nw_threaded)
        return __atomic_load_n(&nw_unexpected_count, __ATOMIC_RELAXED) &&
               nw_unexpected_take(caught->match, message);
    one->posting = !nw_post_begin(caught->match, message);
    return !one->posting;
}

static int persistent_start_begin(MPI_Request request, struct begun *out)
{
    struct nw_tracked_request *kept =
        nw_request_table_find(request, nw_request_table_is_persistent);
    MPI_Message message;
    int rc;

    *out = (struct begun){.kept = kept, .was_active = kept && kept->active};
    if (!kept)
        return MPI_SUCCESS;
    out->held = persistent_start_take(out, &message);
    rc = out->held ? persistent_start_hold(kept, message)
                   : persistent_start_fill(kept);
    if (rc && out->posting)
        nw_post_end();
    return rc;
}

/* Ends the start of a request, whose result is `rc`. If MPI did not start the
 * send, withdraws its payload, since no process will copy it. Returns an MPI
 * error code. */
static int persistent_start_end_start(const struct begun *one, int rc)
{
    if (one->posting)
        nw_post_end();
    if (rc && one->kept) {
        nw_direct_unsent(one->kept->buffer, one->kept->count);
        one->kept->active = one->was_active;
    }
    return rc;
}

int nw_message_start(__typeof__(&MPI_Start) next, MPI_Request *request)
{
    struct begun one;
    int rc = persistent_start_begin(*request, &one);

    return rc || one.held ? rc
                          : persistent_start_end_start(&one, next(request));
}

/* Starts the requests one by one: if one fails, it is known which of them were
 * started. */
int nw_message_startall(__typeof__(&MPI_Startall) next, int count,
                        MPI_Request *requests)
{
    struct begun one;
    int rc = MPI_SUCCESS;

    for (int i = 0; i < count && !rc; i++) {
        rc = persistent_start_begin(requests[i], &one);
        if (!rc && !one.held)
            rc = persistent_start_end_start(&one, next(1, &requests[i]));
    }
    return rc;
}

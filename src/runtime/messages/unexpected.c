/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes. A probe must report the payload of a message, not its envelope. So
 * every message of an envelope's size that a probe finds is taken out of MPI's
 * queue and read. This message, and all earlier messages from its sender in the
 * same communicator, are then kept in a list, in their order, for later
 * receives and probes.
 */
#include "runtime/messages/matched.h"

#include "base/backoff.h"
#include "base/status.h"

#include <pthread.h>
#include <stdlib.h>

enum { FORWARD_TAG = 1 };

/* Protects the list of messages. The mutex is recursive, since an error handler
 * of the program may run while it is held and call MPI. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct nw_unexpected *asides;
int nw_unexpected_count;

static void unexpected_append(struct nw_unexpected *one)
{
    struct nw_unexpected **at = &asides;

    while (*at)
        at = &(*at)->next;
    *at = one;
}

static struct nw_unexpected **unexpected_find(const struct nw_match *match)
{
    struct nw_unexpected **at = &asides;

    while (*at && ((*at)->owner.comm != match->comm ||
                   (match->source != MPI_ANY_SOURCE &&
                    match->source != (*at)->source) ||
                   (match->tag != MPI_ANY_TAG && match->tag != (*at)->tag)))
        at = &(*at)->next;
    return at;
}

static void unexpected_say(const struct nw_unexpected *one, MPI_Status *status)
{
    status->MPI_SOURCE = one->source;
    status->MPI_TAG = one->tag;
    NW_PMPI(Status_set_elements_x)(status, MPI_BYTE, one->bytes);
    NW_PMPI(Status_set_cancelled)(status, 0);
}

/* --- adding to the list --- */

static int look_into(struct nw_unexpected *one)
{
    MPI_Status status;
    int rc = NW_PMPI(Mrecv)(&one->envelope, NW_ENVELOPE, MPI_BYTE,
                            &one->message, &status);

    if (rc)
        return rc;
    if (nw_envelope_is(&one->envelope))
        one->bytes = (MPI_Count)one->envelope.bytes;
    rc = NW_PMPI(Isend)(&one->envelope, NW_ENVELOPE, MPI_BYTE, 0, FORWARD_TAG,
                        nw_local_peer_self(), &one->request);
    if (!rc)
        rc = NW_PMPI(Mprobe)(0, FORWARD_TAG, nw_local_peer_self(),
                             &one->message, &status);
    one->forwarded = !rc;
    return rc;
}

static int unexpected_enter(MPI_Comm comm, MPI_Message message,
                            const MPI_Status *status)
{
    struct nw_unexpected *one = calloc(1, sizeof *one);
    int rc = MPI_SUCCESS;

    if (!one)
        return MPI_ERR_NO_MEM;
    one->owner.comm = comm;
    one->message = message;
    one->source = status->MPI_SOURCE;
    one->tag = status->MPI_TAG;
    one->bytes = (MPI_Count)nw_stage_received(status);
    if (one->bytes == NW_ENVELOPE)
        rc = look_into(one);
    unexpected_append(one);
    __atomic_add_fetch(&nw_unexpected_count, 1, __ATOMIC_RELAXED);
    return rc;
}

static bool is_small(const MPI_Status *status)
{
    return nw_stage_received(status) == NW_ENVELOPE;
}

/* Takes all messages from one sender, up to the one described in `seen`, out of
 * MPI's queue and appends them to the list. Also succeeds if another thread has
 * already taken the described message. Returns an MPI error code. */
static int set_aside(MPI_Comm comm, const MPI_Status *seen)
{
    MPI_Message message;
    MPI_Status status;
    int flag = 1, rc = MPI_SUCCESS;

    do {
        rc = NW_PMPI(Improbe)(seen->MPI_SOURCE, MPI_ANY_TAG, comm, &flag,
                              &message, &status);
        if (!rc && flag)
            rc = unexpected_enter(comm, message, &status);
    } while (!rc && flag &&
             (status.MPI_TAG != seen->MPI_TAG || !is_small(&status)));
    return rc;
}

/* --- probes --- */

static bool is_aside(const struct nw_match *match, MPI_Status *status)
{
    const struct nw_unexpected *one;

    pthread_mutex_lock(&lock);
    one = *unexpected_find(match);
    if (one)
        unexpected_say(one, status);
    pthread_mutex_unlock(&lock);
    return one != NULL;
}

bool nw_unexpected_take(struct nw_match match, MPI_Message *message)
{
    struct nw_unexpected **at, *one;

    pthread_mutex_lock(&lock);
    at = unexpected_find(&match);
    one = *at;
    if (one) {
        *at = one->next;
        *message = one->message;
        __atomic_sub_fetch(&nw_unexpected_count, 1, __ATOMIC_RELAXED);
        nw_matched_add(one);
    }
    pthread_mutex_unlock(&lock);
    return one != NULL;
}

static int match_next(MPI_Comm comm, int *flag, struct nw_found found)
{
    MPI_Status *seen = found.status;
    int rc = NW_PMPI(Improbe)(seen->MPI_SOURCE, seen->MPI_TAG, comm, flag,
                              found.message, seen);

    if (!rc && *flag)
        nw_matched_note(comm, *found.message);
    return rc;
}

/* Finds a matching message: in the list, or else the next one in MPI's queue,
 * after moving the messages before it to the list. If found.message is not
 * NULL, also takes the message for the program. The lock keeps probes and
 * receives of other threads away meanwhile. */
static int unexpected_look(const struct nw_match *match, int *flag,
                           struct nw_found found)
{
    MPI_Status *seen = found.status;
    int rc = MPI_SUCCESS;

    for (;;) {
        *flag = is_aside(match, seen);
        if (*flag) {
            if (found.message)
                (void)nw_unexpected_take(*match, found.message);
            return rc;
        }
        rc =
            NW_PMPI(Iprobe)(match->source, match->tag, match->comm, flag, seen);
        if (rc || !*flag)
            return rc;
        if (!is_small(seen))
            return found.message ? match_next(match->comm, flag, found) : rc;
        rc = set_aside(match->comm, seen);
        if (rc)
            return rc;
    }
}

/* Waits until a message may have arrived. If the program has several threads,
 * only yields the core, since another thread may add the message to the list.
 */
static int pause_for(const struct nw_match *match, MPI_Status *status,
                     struct nw_backoff *backoff)
{
    if (!nw_threaded)
        return NW_PMPI(Probe)(match->source, match->tag, match->comm, status);
    nw_backoff_yield(backoff);
    return MPI_SUCCESS;
}

static int unexpected_probe(const struct nw_match *match, bool wait, int *flag,
                            struct nw_found found)
{
    struct nw_backoff backoff = {0};
    MPI_Status own;
    int rc;

    if (found.status == MPI_STATUS_IGNORE)
        found.status = &own;
    __atomic_store_n(&nw_shared_page->peer[nw_local_peer_mine()].probes, 1,
                     __ATOMIC_RELAXED);
    do {
        pthread_mutex_lock(&lock);
        rc = unexpected_look(match, flag, found);
        pthread_mutex_unlock(&lock);
        if (rc || *flag || !wait)
            return rc;
        rc = pause_for(match, found.status, &backoff);
    } while (!rc);
    return rc;
}

int nw_probe(struct nw_match match, bool wait, int *flag, MPI_Status *status)
{
    return unexpected_probe(&match, wait, flag,
                            (struct nw_found){NULL, status});
}

/* Calls MPI's own probe. This suffices if no message can be an envelope. */
static int match_plain(const struct nw_match *match, bool wait, int *flag,
                       struct nw_found found)
{
    int rc = wait ? NW_PMPI(Mprobe)(match->source, match->tag, match->comm,
                                    found.message, found.status)
                  : NW_PMPI(Improbe)(match->source, match->tag, match->comm,
                                     flag, found.message, found.status);

    if (!rc && (wait || *flag) && match->source != MPI_PROC_NULL)
        nw_matched_note(match->comm, *found.message);
    return rc;
}

int nw_mprobe(struct nw_match match, bool wait, int *flag,
              struct nw_found found)
{
    return nw_direct && match.source != MPI_PROC_NULL
               ? unexpected_probe(&match, wait, flag, found)
               : match_plain(&match, wait, flag, found);
}

/* --- receives by several threads --- */

bool nw_post_begin(struct nw_match match, MPI_Message *message)
{
    pthread_mutex_lock(&lock);
    if (!nw_unexpected_take(match, message))
        return false;
    pthread_mutex_unlock(&lock);
    return true;
}

void nw_post_end(void)
{
    pthread_mutex_unlock(&lock);
}

int nw_post_receive(struct nw_stage *stage, struct nw_match match,
                    MPI_Status *status)
{
    const struct nw_catch *caught = &stage->caught;
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    MPI_Request request;
    MPI_Message message;
    int rc;

    if (nw_post_begin(match, &message)) {
        nw_stage_drop(stage);
        return NW_LARGE(Mrecv, caught->buffer, caught->count, caught->type,
                        &message, status);
    }
    rc = NW_LARGE_BELOW(Irecv, caught->at, caught->n, caught->as, match.source,
                        match.tag, match.comm, &request);
    nw_post_end();
    if (!rc)
        rc = NW_PMPI(Wait)(&request, seen);
    return nw_stage_end(stage, rc, seen, NW_OF_COMM(match.comm));
}

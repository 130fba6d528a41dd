/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes tell of messages before they are received, and must tell of payloads,
 * not of envelopes. What has an envelope's size is taken out of MPI's queue
 * and looked into; it and all that came before it from the same rank are set
 * aside in order, as messages of MPI, for the receives and probes to come.
 */
#include "runtime/messages/direct.h"

#include "base/array.h"
#include "base/status.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { FORWARD_TAG = 1 };

struct nw_aside {
    struct nw_aside *next;
    MPI_Comm comm;
    int source, tag;
    MPI_Count bytes; /* of the payload */
    MPI_Message message;
    /* one that was looked into is sent to ourselves, to be a message again */
    bool forwarded;
    struct nw_envelope envelope;
    MPI_Request request;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nw_aside *asides, *given; /* waiting; in the program's hands */
int nw_asides, nw_given;

static void list_append(struct nw_aside **at, struct nw_aside *one)
{
    while (*at)
        at = &(*at)->next;
    one->next = NULL;
    *at = one;
}

static struct nw_aside **find(const struct nw_match *match)
{
    struct nw_aside **at = &asides;

    while (*at && ((*at)->comm != match->comm ||
                   (match->source != MPI_ANY_SOURCE &&
                    match->source != (*at)->source) ||
                   (match->tag != MPI_ANY_TAG && match->tag != (*at)->tag)))
        at = &(*at)->next;
    return at;
}

static void say(const struct nw_aside *one, MPI_Status *status)
{
    status->MPI_SOURCE = one->source;
    status->MPI_TAG = one->tag;
    NW_PMPI(Status_set_elements_x)(status, MPI_BYTE, one->bytes);
    NW_PMPI(Status_set_cancelled)(status, 0);
}

/* -- into the list -- */

static int look_into(struct nw_aside *one)
{
    MPI_Status status;
    int rc = NW_PMPI(Mrecv)(&one->envelope, NW_ENVELOPE, MPI_BYTE,
                            &one->message, &status);

    if (rc)
        return rc;
    if (nw_envelope_is(&one->envelope))
        one->bytes = (MPI_Count)one->envelope.bytes;
    rc = NW_PMPI(Isend)(&one->envelope, NW_ENVELOPE, MPI_BYTE, 0, FORWARD_TAG,
                        nw_seat_self(), &one->request);
    if (!rc)
        rc = NW_PMPI(Mprobe)(0, FORWARD_TAG, nw_seat_self(), &one->message,
                             &status);
    one->forwarded = !rc;
    return rc;
}

static int enter(MPI_Comm comm, MPI_Message message, const MPI_Status *status)
{
    struct nw_aside *one = calloc(1, sizeof *one);
    int rc = MPI_SUCCESS;

    if (!one)
        return MPI_ERR_NO_MEM;
    one->comm = comm;
    one->message = message;
    one->source = status->MPI_SOURCE;
    one->tag = status->MPI_TAG;
    one->bytes = (MPI_Count)nw_stage_received(status);
    if (one->bytes == NW_ENVELOPE)
        rc = look_into(one);
    list_append(&asides, one);
    __atomic_add_fetch(&nw_asides, 1, __ATOMIC_RELAXED);
    return rc;
}

static bool is_small(const MPI_Status *status)
{
    return nw_stage_received(status) == NW_ENVELOPE;
}

/* All of that rank up to the one that was seen, which another thread may have
 * taken meanwhile. */
static int set_aside(MPI_Comm comm, const MPI_Status *seen)
{
    MPI_Message message;
    MPI_Status status;
    int flag = 1, rc = MPI_SUCCESS;

    do {
        rc = NW_PMPI(Improbe)(seen->MPI_SOURCE, MPI_ANY_TAG, comm, &flag,
                              &message, &status);
        if (!rc && flag)
            rc = enter(comm, message, &status);
    } while (!rc && flag &&
             (status.MPI_TAG != seen->MPI_TAG || !is_small(&status)));
    return rc;
}

/* One that was seen to be no envelope, unless another thread took that. */
static int take_plain(const struct nw_match *match, int *flag,
                      MPI_Message *message, MPI_Status *status)
{
    int rc = NW_PMPI(Improbe)(match->source, match->tag, match->comm, flag,
                              message, status);

    if (rc || !*flag || !is_small(status))
        return rc;
    *flag = 0;
    pthread_mutex_lock(&lock);
    rc = enter(match->comm, *message, status);
    pthread_mutex_unlock(&lock);
    return rc;
}

/* -- probes -- */

static bool is_aside(const struct nw_match *match, MPI_Status *status)
{
    const struct nw_aside *one;

    pthread_mutex_lock(&lock);
    one = *find(match);
    if (one)
        say(one, status);
    pthread_mutex_unlock(&lock);
    return one != NULL;
}

static int ask_mpi(const struct nw_match *match, bool wait, int *flag,
                   MPI_Status *status)
{
    *flag = 1;
    return wait ? NW_PMPI(Probe)(match->source, match->tag, match->comm, status)
                : NW_PMPI(Iprobe)(match->source, match->tag, match->comm, flag,
                                  status);
}

int nw_probe(struct nw_match match, bool wait, int *flag, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int rc = MPI_SUCCESS;

    __atomic_store_n(&nw_board->seat[nw_seat_mine()].probes, 1,
                     __ATOMIC_RELAXED);
    while (!rc) {
        *flag = 1;
        if (is_aside(&match, seen))
            return MPI_SUCCESS;
        rc = ask_mpi(&match, wait, flag, seen);
        if (rc || !*flag || !is_small(seen))
            return rc;
        pthread_mutex_lock(&lock);
        rc = set_aside(match.comm, seen);
        pthread_mutex_unlock(&lock);
    }
    return rc;
}

bool nw_aside_take(struct nw_match match, MPI_Message *message)
{
    struct nw_aside **at, *one;

    pthread_mutex_lock(&lock);
    at = find(&match);
    one = *at;
    if (one) {
        *at = one->next;
        *message = one->message;
        __atomic_sub_fetch(&nw_asides, 1, __ATOMIC_RELAXED);
        if (one->forwarded) {
            list_append(&given, one);
            __atomic_add_fetch(&nw_given, 1, __ATOMIC_RELAXED);
        }
    }
    pthread_mutex_unlock(&lock);
    if (one && !one->forwarded)
        free(one);
    return one != NULL;
}

int nw_mprobe(struct nw_match match, bool wait, int *flag,
              struct nw_found found)
{
    MPI_Status own,
        *seen = found.status == MPI_STATUS_IGNORE ? &own : found.status;
    int rc;

    if (match.source == MPI_PROC_NULL)
        return NW_PMPI(Improbe)(match.source, match.tag, match.comm, flag,
                                found.message, found.status);
    for (;;) {
        struct nw_match same = match;

        rc = nw_probe(match, wait, flag, seen);
        if (rc || !*flag)
            return rc;
        same.source = seen->MPI_SOURCE;
        same.tag = seen->MPI_TAG;
        if (nw_aside_take(same, found.message))
            return MPI_SUCCESS;
        rc = take_plain(&same, flag, found.message, seen);
        if (rc || *flag)
            return rc;
    }
}

/* -- in the program's hands -- */

struct nw_aside *nw_given_take(MPI_Message message)
{
    struct nw_aside **at = &given, *one;

    pthread_mutex_lock(&lock);
    while (*at && (*at)->message != message)
        at = &(*at)->next;
    one = *at;
    if (one) {
        *at = one->next;
        __atomic_sub_fetch(&nw_given, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&lock);
    return one;
}

void nw_given_end(struct nw_aside *one, MPI_Status *status)
{
    if (!one)
        return;
    NW_PMPI(Wait)(&one->request, MPI_STATUS_IGNORE);
    if (status) {
        status->MPI_SOURCE = one->source;
        status->MPI_TAG = one->tag;
    }
    free(one);
}

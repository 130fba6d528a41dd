/* SPDX-License-Identifier: BSD-3-Clause */
/* Payloads that are sent after their envelope, as an MPI message between two
 * processes of the node. The receiver receives this message when it reads the
 * envelope. */
#include "runtime/messages/direct.h"

#include "base/backoff.h"
#include "base/status.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

enum { TAGS = 32768 }; /* number of tags that every MPI supports */

struct late {
    struct late *next;
    uint64_t number;
    MPI_Request request;
    struct nw_host *host;
};

/* Protects `following`, the list of payloads whose sends are pending, and
 * `number_given`, the number of the last payload. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct late *following;
static uint64_t number_given;

/* Frees the payloads in `following` whose sends are complete, cancelled or have
 * failed. The caller holds the lock or is in MPI_Finalize. */
static void late_payload_reap(void)
{
    struct late **at = &following, *late;

    while ((late = *at) != NULL) {
        int done = 0;

        if (!NW_PMPI(Test)(&late->request, &done, MPI_STATUS_IGNORE) && !done) {
            at = &late->next;
            continue;
        }
        *at = late->next;
        nw_pinned_cache_give(late->host);
        free(late);
    }
}

/* Receives and drops a stray payload if one has arrived: its envelope was
 * cancelled or never received. */
static void take_stray(void)
{
    MPI_Message message;
    MPI_Status status;
    uint64_t bytes;
    char *memory;
    int flag = 0;

    if (NW_PMPI(Improbe)(MPI_ANY_SOURCE, MPI_ANY_TAG, nw_local_peer_comm(),
                         &flag, &message, &status) ||
        !flag)
        return;
    bytes = nw_stage_received(&status);
    memory = bytes <= INT_MAX ? malloc((size_t)bytes + 1) : NULL;
    /* the payload is not needed: without memory, receive 0 bytes; this
     * truncates the message, but still removes it */
    NW_PMPI(Mrecv)
    (memory, memory ? (int)bytes : 0, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    free(memory);
}

/* Called in MPI_Finalize. When all payloads of this process are sent, it enters
 * a nonblocking barrier, and receives stray payloads until all processes have
 * entered the barrier. Collective over the processes of the node. */
void nw_late_finish(void)
{
    MPI_Request all = MPI_REQUEST_NULL;
    struct nw_backoff backoff = {0};
    bool asked = false;
    int done = 0, rc = MPI_SUCCESS;

    while (!done && !rc) {
        late_payload_reap();
        take_stray();
        if (asked) {
            rc = NW_PMPI(Test)(&all, &done, MPI_STATUS_IGNORE);
        } else if (!following) {
            rc = NW_PMPI(Ibarrier)(nw_local_peer_comm(), &all);
            asked = true;
        }
        if (!done)
            nw_backoff_yield(&backoff);
    }
}

/* Cancels the payload with this number. MPI may still send it, so its memory is
 * freed only when the send is complete. */
void nw_late_cancel(uint64_t number)
{
    struct late *late;

    pthread_mutex_lock(&lock);
    late = following;
    while (late && late->number != number)
        late = late->next;
    if (late)
        NW_PMPI(Cancel)(&late->request);
    late_payload_reap();
    pthread_mutex_unlock(&lock);
}

nw_status nw_late_receive(const struct nw_envelope *envelope, char *to)
{
    int rc =
        NW_PMPI(Recv)(to, (int)envelope->bytes, MPI_BYTE, (int)envelope->owner,
                      (int)(envelope->generation % TAGS), nw_local_peer_comm(),
                      MPI_STATUS_IGNORE);

    return rc ? nw_fail(NW_EMPI, "a payload did not follow its envelope")
              : NW_OK;
}

static nw_status fill_late(struct late *late, const struct nw_buffer *buffer)
{
    struct nw_buffer staged = *buffer;
    nw_status status = nw_pinned_cache_take(buffer->bytes, &late->host);

    staged.host = late->host;
    return status ? status : nw_buffer_fill(&staged, false);
}

static bool is_tag_taken(uint64_t number)
{
    const struct late *late = following;

    while (late && late->number % TAGS != number % TAGS)
        late = late->next;
    return late != NULL;
}

/* Returns a number for the next payload, whose tag follows from the number and
 * must be free. A tag is in use while a send with it is pending: a cancelled
 * payload may still be in the receiver's queue. */
static uint64_t next_number(void)
{
    int tries = TAGS;

    do
        number_given++;
    while (is_tag_taken(number_given) && tries--);
    return number_given;
}

static nw_status start_late(struct late *late, const struct nw_buffer *buffer)
{
    int rc;

    pthread_mutex_lock(&lock);
    late->number = next_number();
    rc = NW_PMPI(Isend)(late->host->memory, (int)buffer->bytes, MPI_BYTE,
                        buffer->peer, (int)(late->number % TAGS),
                        nw_local_peer_comm(), &late->request);
    if (!rc) {
        late->next = following;
        following = late;
    }
    pthread_mutex_unlock(&lock);
    return rc ? nw_fail(NW_EMPI, "a payload could not be sent") : NW_OK;
}

void nw_late_reap(void)
{
    pthread_mutex_lock(&lock);
    late_payload_reap();
    pthread_mutex_unlock(&lock);
}

nw_status nw_late_send(struct nw_buffer *buffer)
{
    struct late *late = calloc(1, sizeof *late);
    nw_status status;

    if (!late)
        return nw_fail(NW_ENOMEM, "out of memory for the data of a message");
    status = fill_late(late, buffer);
    if (!status)
        status = start_late(late, buffer);
    if (status) {
        nw_pinned_cache_give(late->host);
        free(late);
        return status;
    }
    *buffer->slot = (struct nw_pool_slot){NW_SLOTS, 0, late->number};
    return NW_OK;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that the program has matched by MPI_Mprobe and not received yet.
 * Their communicators are stored here, because MPI_Mrecv has no communicator
 * argument and the program may have freed the communicator. */
#include "runtime/messages/matched.h"

#include "runtime/messages/shadow_comm.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nw_unexpected *all;
int nw_matched;

void nw_matched_add(struct nw_unexpected *one)
{
    pthread_mutex_lock(&lock);
    one->next = all;
    all = one;
    __atomic_add_fetch(&nw_matched, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
}

void nw_matched_note(MPI_Comm comm, MPI_Message message)
{
    struct nw_unexpected *one = calloc(1, sizeof *one);

    if (!one)
        return;
    one->owner.comm = comm;
    one->message = message;
    nw_matched_add(one);
}

static struct nw_unexpected *matched_find(MPI_Message message)
{
    struct nw_unexpected *one = all;

    while (one && (one->taken || one->message != message))
        one = one->next;
    return one;
}

struct nw_unexpected *nw_matched_take(MPI_Message message)
{
    struct nw_unexpected *one;

    pthread_mutex_lock(&lock);
    one = matched_find(message);
    if (one)
        one->taken = true;
    pthread_mutex_unlock(&lock);
    return one;
}

struct nw_errhandler_scope nw_matched_whose(struct nw_unexpected *one,
                                            MPI_Message message)
{
    struct nw_errhandler_scope whose = NW_OF_COMM(MPI_COMM_WORLD);

    pthread_mutex_lock(&lock);
    if (!one)
        one = matched_find(message);
    pthread_mutex_unlock(&lock);
    whose.owner = one ? &one->owner : NULL;
    return whose;
}

bool nw_matched_see(struct nw_unexpected *one, MPI_Status *status)
{
    if (!one || !one->forwarded)
        return false;
    NW_PMPI(Wait)(&one->request, MPI_STATUS_IGNORE);
    status->MPI_SOURCE = one->source;
    status->MPI_TAG = one->tag;
    return true;
}

void nw_matched_drop(struct nw_unexpected *one)
{
    struct nw_unexpected **at = &all;

    if (!one)
        return;
    if (one->forwarded)
        NW_PMPI(Wait)(&one->request, MPI_STATUS_IGNORE);
    pthread_mutex_lock(&lock);
    while (*at != one)
        at = &(*at)->next;
    *at = one->next;
    __atomic_sub_fetch(&nw_matched, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
    nw_shadow_comm_drop(one->owner.shadow);
    free(one);
}

bool nw_matched_inherit(MPI_Comm comm, struct nw_shadow_comm *shadow)
{
    bool any = false;

    pthread_mutex_lock(&lock);
    for (struct nw_unexpected *one = all; one; one = one->next)
        any |= nw_comm_owner_leave(&one->owner, comm, shadow);
    pthread_mutex_unlock(&lock);
    return any;
}

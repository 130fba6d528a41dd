/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Isendrecv in a program that uses a GPU. Nodewise starts a send and a
 * receive, and gives the program one request, which completes when both are
 * complete. This has two reasons: the receive may have to take a message that a
 * probe took out of MPI's queue, and MPICH 4.0 sets no status. The program's
 * request is a generalized request, which makes no progress itself. So every
 * call that may complete it tests both parts first.
 */
#include "runtime/messages/direct.h"
#include "runtime/messages/request_table.h"

#include "base/backoff.h"

#include <pthread.h>
#include <stdlib.h>

enum { SEND, RECEIVE, PARTS };

/* An MPI_Isendrecv that is not complete: the send and the receive are its
 * parts. `tracked` must be the first member, since nw_request_table_free frees
 * the struct through it. */
struct nw_sendrecv {
    struct nw_tracked_request tracked;
    /* next in `pairs`; valid until both parts are complete */
    struct nw_sendrecv *next;
    MPI_Request part[PARTS];
    MPI_Status status; /* status of the receive */
    int rc;            /* error code of the first part that failed */
    bool ended; /* `status` and `rc` are final. Atomic: the thread that waits
                   may not be the one that tested the parts, and MPI orders no
                   memory of ours between the two. */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nw_sendrecv *pairs; /* list of all MPI_Isendrecv that are not
                                     complete */
static int pair_count;
/* true inside nw_sendrecvs_look, whose tests would call it again */
static _Thread_local bool looking;

static bool are_any(void)
{
    return __atomic_load_n(&pair_count, __ATOMIC_RELAXED) && !looking;
}

/* --- callbacks of the program's request; sendrecv_complete sets its status ---
 */

static int say_nothing(void *unused, MPI_Status *status)
{
    (void)unused;
    NW_PMPI(Status_set_elements_x)(status, MPI_BYTE, 0);
    NW_PMPI(Status_set_cancelled)(status, 0);
    return MPI_SUCCESS;
}

static int free_nothing(void *unused)
{
    (void)unused;
    return MPI_SUCCESS;
}

static int cancel_nothing(void *unused, int complete)
{
    (void)unused;
    (void)complete;
    return MPI_SUCCESS;
}

/* --- progress --- */

/* Frees the MPI request of a part (send or receive) that failed, by
 * MPI_Request_free, since MPI may still use it. For the same reason, the memory
 * of a send is not freed. */
static void sendrecv_give_up(struct nw_sendrecv *pair, int part)
{
    if (pair->part[part] == MPI_REQUEST_NULL)
        return;
    if (part == SEND)
        pair->tracked.memory = NULL;
    (void)MPI_Request_free(&pair->part[part]);
    pair->part[part] = MPI_REQUEST_NULL;
}

static void end_part(struct nw_sendrecv *pair, int part)
{
    MPI_Status status;
    int flag = 0, rc;

    if (pair->part[part] == MPI_REQUEST_NULL)
        return;
    rc = MPI_Test(&pair->part[part], &flag, &status);
    if (rc)
        sendrecv_give_up(pair, part);
    pair->rc = pair->rc ? pair->rc : rc;
    if (part == RECEIVE && (rc || flag))
        pair->status = status;
    pair->status.MPI_ERROR = pair->rc;
}

/* Tests the send and the receive. Returns true if both are complete. */
static bool sendrecv_test(struct nw_sendrecv *pair)
{
    for (int i = 0; i < PARTS; i++)
        end_part(pair, i);
    return pair->part[SEND] == MPI_REQUEST_NULL &&
           pair->part[RECEIVE] == MPI_REQUEST_NULL;
}

/* Tests all MPI_Isendrecv in the list for progress. One that is complete leaves
 * the list before its request is completed, because another thread may free it
 * as soon as the request is complete. */
void nw_sendrecvs_look(void)
{
    struct nw_sendrecv **at = &pairs;

    if (!are_any())
        return;
    pthread_mutex_lock(&lock);
    looking = true;
    nw_depth++;
    while (*at) {
        struct nw_sendrecv *pair = *at;
        MPI_Request request = pair->tracked.request;

        if (!sendrecv_test(pair)) {
            at = &pair->next;
            continue;
        }
        *at = pair->next;
        __atomic_sub_fetch(&pair_count, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&pair->ended, true, __ATOMIC_RELEASE);
        NW_PMPI(Grequest_complete)(request);
    }
    nw_depth--;
    looking = false;
    pthread_mutex_unlock(&lock);
}

/* Returns true if the request belongs to an MPI_Isendrecv in the list. The
 * caller holds the lock. */
static bool sendrecv_is_busy(MPI_Request request)
{
    const struct nw_sendrecv *pair = pairs;

    while (pair && pair->tracked.request != request)
        pair = pair->next;
    return pair != NULL;
}

bool nw_sendrecvs_are_busy(int count, const MPI_Request *requests)
{
    bool busy = false;

    if (!are_any())
        return false;
    nw_sendrecvs_look();
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count && !busy; i++)
        busy = sendrecv_is_busy(requests[i]);
    pthread_mutex_unlock(&lock);
    return busy;
}

void nw_sendrecvs_await(int count, const MPI_Request *requests)
{
    struct nw_backoff backoff = {0};

    while (nw_sendrecvs_are_busy(count, requests))
        nw_backoff_yield(&backoff);
}

/* Does not take the lock: an error handler of the program may complete a
 * request while its thread holds the lock. */
static int sendrecv_complete(struct nw_tracked_request *kept,
                             MPI_Status *status)
{
    const struct nw_sendrecv *pair = (const struct nw_sendrecv *)kept;

    while (!__atomic_load_n(&pair->ended, __ATOMIC_ACQUIRE))
        sched_yield();
    kept->active = false;
    *status = pair->status;
    return pair->rc;
}

/* --- starting both parts --- */

static bool sendrecv_fits(const struct nw_area *area)
{
    return area->count >= 0 && area->count == (int64_t)(nw_units)area->count;
}

static int start_parts(struct nw_sendrecv *pair,
                       const struct nw_sendrecv_pair *exchange)
{
    const struct nw_area *from = &exchange->from, *into = &exchange->into;
    const struct nw_match *to = &exchange->to, *match = &exchange->match;
    int rc;

    rc = NW_LARGE(Irecv, (void *)(uintptr_t)into->buffer, into->count,
                  into->type, match->source, match->tag, match->comm,
                  &pair->part[RECEIVE]);
    if (rc)
        return rc;
    rc = NW_LARGE(Isend, from->buffer, from->count, from->type, to->source,
                  to->tag, to->comm, &pair->part[SEND]);
    if (rc) {
        NW_PMPI(Cancel)(&pair->part[RECEIVE]);
        MPI_Wait(&pair->part[RECEIVE], MPI_STATUS_IGNORE);
    }
    return rc;
}

static int start_all(struct nw_sendrecv *pair,
                     const struct nw_sendrecv_pair *exchange)
{
    int rc;

    if (!sendrecv_fits(&exchange->from) || !sendrecv_fits(&exchange->into))
        return nw_stage_raise(NW_OF_COMM(exchange->to.comm), MPI_ERR_COUNT);
    rc = NW_PMPI(Grequest_start)(say_nothing, free_nothing, cancel_nothing,
                                 NULL, &pair->tracked.request);
    if (rc)
        return rc;
    rc = start_parts(pair, exchange);
    if (rc) {
        NW_PMPI(Grequest_complete)(pair->tracked.request);
        NW_PMPI(Request_free)(&pair->tracked.request);
    }
    return rc;
}

static int sendrecv_start(struct nw_sendrecv_pair exchange, char *packed,
                          MPI_Request *request)
{
    struct nw_sendrecv *pair = calloc(1, sizeof *pair);
    int rc = pair
                 ? start_all(pair, &exchange)
                 : nw_stage_raise(NW_OF_COMM(exchange.to.comm), MPI_ERR_NO_MEM);

    if (rc) {
        free(packed);
        free(pair);
        return rc;
    }
    pair->tracked.complete = sendrecv_complete;
    pair->tracked.active = true;
    pair->tracked.opened = true; // the program may ask for the status again
    pair->tracked.owner.comm = MPI_COMM_NULL;
    pair->tracked.memory = packed;
    *request = pair->tracked.request;
    nw_request_table_put(&pair->tracked);
    pthread_mutex_lock(&lock);
    pair->next = pairs;
    pairs = pair;
    __atomic_add_fetch(&pair_count, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}

int nw_sendrecv_start(struct nw_sendrecv_pair exchange, MPI_Request *request)
{
    return sendrecv_start(exchange, NULL, request);
}

/* Returns true if the send may use the direct path: its data is then in the
 * pool or in host memory when the call returns, so the buffer may be received
 * into. */
static bool is_direct(const struct nw_area *area)
{
    struct nw_load load = {.bytes = 0};
    bool is = nw_direct && nw_load_find(area, &load);

    nw_typemap_drop(load.layout);
    return is;
}

/* Packs an area into `packed`, which has `room` bytes, and sets *at to the
 * number of packed bytes. Returns an MPI error code. */
static int sendrecv_pack(const struct nw_area *area, MPI_Comm comm,
                         char *packed, int64_t room, int64_t *at)
{
    int end = 0, rc;
#if MPI_VERSION >= 4
    MPI_Count large_end = 0;

    if (area->count > INT_MAX || room > INT_MAX) {
        rc = MPI_Pack_c(area->buffer, area->count, area->type, packed, room,
                        &large_end, comm);
        *at = large_end;
        return rc;
    }
#endif
    rc = MPI_Pack(area->buffer, (int)area->count, area->type, packed, (int)room,
                  &end, comm);
    *at = end;
    return rc;
}

int nw_sendrecv_replace(struct nw_sendrecv_pair exchange, MPI_Request *request)
{
    const struct nw_area *area = &exchange.into;
    MPI_Comm comm = exchange.to.comm;
    MPI_Count size = 0;
    int64_t at = 0;
    char *packed;
    int rc;

    if (!sendrecv_fits(area))
        return nw_stage_raise(NW_OF_COMM(comm), MPI_ERR_COUNT);
    if (is_direct(area)) {
        exchange.from = *area;
        return sendrecv_start(exchange, NULL, request);
    }
    rc = NW_PMPI(Type_size_x)(area->type, &size);
    if (rc)
        return rc;
    size *= area->count;
    packed = malloc((size_t)size + 1);
    rc = packed ? sendrecv_pack(area, comm, packed, size, &at)
                : nw_stage_raise(NW_OF_COMM(comm), MPI_ERR_NO_MEM);
    if (rc) {
        free(packed);
        return rc;
    }
    exchange.from = NW_AREA(packed, at, MPI_PACKED);
    return sendrecv_start(exchange, packed, request);
}

bool nw_is_apart(struct nw_area area)
{
    struct nw_catch caught = {.count = area.count, .type = area.type};

    return nw_direct &&
           (nw_threaded ||
            __atomic_load_n(&nw_unexpected_count, __ATOMIC_RELAXED) ||
            nw_catch_is_small(&caught) || is_direct(&area));
}

int nw_sendrecv_through(struct nw_sendrecv_pair exchange, MPI_Status *status)
{
    const struct nw_area *area = &exchange.into;
    const struct nw_match *to = &exchange.to, *match = &exchange.match;
    void *buffer = (void *)(uintptr_t)area->buffer;
    MPI_Request request;
    int rc;

    if (is_direct(area))
        return NW_SEND_AND(MPI_Isend(buffer, (int)area->count, area->type,
                                     to->source, to->tag, to->comm, &nw_sent_),
                           MPI_Recv(buffer, (int)area->count, area->type,
                                    match->source, match->tag, match->comm,
                                    status));
    rc = nw_sendrecv_replace(exchange, &request);
    return rc ? rc : MPI_Wait(&request, status);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stores data with requests. For a persistent request, these are the messages
 * that each start sends. For a receive into GPU memory, it is the buffer, so
 * that the received message can be counted at completion.
 */
#ifndef NW_PROFILE_REQUEST_H
#define NW_PROFILE_REQUEST_H

#include "runtime/mpi_symbols.h"
#include "runtime/profile/record.h"

/* Stores the plan with a persistent request, and takes ownership of its
 * memory. */
void nw_plan_made(struct nw_plan *plan, MPI_Request request);
void nw_started(int count, const MPI_Request *requests);
void nw_request_gone(MPI_Request request);

/* Called when a receive was started (nw_receive_posted), or a persistent
 * receive was created (nw_receive_made). They store the receive only if its
 * buffer is in GPU memory and calls are recorded. */
void nw_receive_posted(struct nw_data data, MPI_Comm comm, MPI_Request request);
void nw_receive_made(struct nw_data data, MPI_Comm comm, MPI_Request request);
/* Called when MPI_Mprobe has matched a message (nw_message_matched), MPI_Mrecv
 * has received it (nw_message_received), or MPI_Imrecv has started to receive
 * it (nw_message_posted). */
void nw_message_matched(MPI_Comm comm, MPI_Message message);
void nw_message_received(struct nw_data data, MPI_Message message,
                         const MPI_Status *status);
void nw_message_posted(struct nw_data data, MPI_Message message,
                       MPI_Request request);
void nw_requests_close(void);
/* Forgets the communicator in all stored receives and matched messages, since
 * it will be freed; they are then not counted. */
void nw_requests_forget(MPI_Comm comm);

/* nw_requests_are_watched returns true if any receive or matched message is
 * stored. nw_watch_one_done is called after a call that may complete a request.
 * `request` is the handle before the call, `left` the handle after it, and `rc`
 * the result. A request that has failed and was freed is forgotten. */
bool nw_requests_are_watched(void);
void nw_watch_one_done(MPI_Request request, MPI_Request left, int rc,
                       const MPI_Status *status);

/* Copies of the caller's requests before the call. Empty if no request is
 * watched or memory is exhausted. */
struct nw_watch {
    int count;
    const MPI_Request *left; /* the caller's own array of requests */
    MPI_Request *request;
    /* memory for `count` statuses, used if the caller passed
     * MPI_STATUSES_IGNORE or MPI_STATUS_IGNORE */
    MPI_Status *status;
};
struct nw_some {
    int done;
    const int *indices;
    const MPI_Status *statuses;
};
void nw_watch_begin(struct nw_watch *watch, int count,
                    const MPI_Request *requests);
void nw_watch_all_done(struct nw_watch *watch, int rc,
                       const MPI_Status *statuses);
void nw_watch_some_done(struct nw_watch *watch, int rc, struct nw_some some);
void nw_watch_any_done(struct nw_watch *watch, int rc, int index,
                       const MPI_Status *status);

#endif

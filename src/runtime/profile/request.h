/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps the data of requests: for a persistent request the messages of each
 * start, and for a receive into GPU memory that its end must be counted.
 */
#ifndef NW_PROFILE_REQUEST_H
#define NW_PROFILE_REQUEST_H

#include "runtime/mpi_symbols.h"
#include "runtime/profile/record.h"

/* Takes the plan of a persistent request. */
void nw_plan_made(struct nw_plan *plan, MPI_Request request);
void nw_started(int count, const MPI_Request *requests);
void nw_request_gone(MPI_Request request);

/* A receive; it is kept only if the buffer is in GPU memory. */
void nw_receive_posted(struct nw_data data, MPI_Comm comm, MPI_Request request);
void nw_receive_made(struct nw_data data, MPI_Comm comm, MPI_Request request);
/* A message that a probe matched, and its receive. */
void nw_message_matched(MPI_Comm comm, MPI_Message message);
void nw_message_received(struct nw_data data, MPI_Message message,
                         const MPI_Status *status);
void nw_message_posted(struct nw_data data, MPI_Message message,
                       MPI_Request request);
void nw_requests_close(void);
/* The communicator's handle means nothing from now on. */
void nw_requests_forget(MPI_Comm comm);

/* Ends of requests. `request` is the handle before the call, `left` the handle
 * after it, and `rc` the result. A request that failed and was freed is
 * forgotten. */
bool nw_requests_are_watched(void);
void nw_watch_one_done(MPI_Request request, MPI_Request left, int rc,
                       const MPI_Status *status);

/* Copies of the caller's requests; nothing where none is watched. */
struct nw_watch {
    int count;
    const MPI_Request *left; /* the caller's own */
    MPI_Request *request;
    MPI_Status *status; /* as many; for a caller that wants none */
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

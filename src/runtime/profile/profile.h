/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that the rows of calls.table name. Every function here is
 * silent, leaves the arguments of the program alone, and runs inside the guard,
 * so that its own MPI calls are not counted.
 */
#ifndef NW_PROFILE_PROFILE_H
#define NW_PROFILE_PROFILE_H

#include "runtime/rank0_environment.h"
#include "runtime/profile/collective.h"
#include "runtime/profile/comm.h"
#include "runtime/gpu_memory.h"
#include "runtime/profile/record.h"
#include "runtime/profile/request.h"
#include "runtime/wrap.h"

/* Beginning and end (start.c). */
/* `world` is MPI_COMM_WORLD, or its substitute in a program of sessions.
 * Collective over `world`. */
void nw_profile_start(MPI_Comm world);
void nw_profile_finish(void);
void nw_profile_aborted(int code);
/* Says why a program without MPI_Init has no profile. */
void nw_profile_without_world(const char *reason);
void nw_profile_level(int level); /* MPI_Pcontrol: 0 off, else on */
bool nw_profile_is_on(void);
/* All ranks, a communicator of the library's own while calls are recorded. */
extern MPI_Comm nw_profile_comm;
/* Gathers to rank 0 and writes the profile there (gather.c). False if this
 * failed; the part files then stay. */
bool nw_profile_gather(MPI_Comm comm, const char *path);

/* Sessions (session.c): one was opened, a group of a process set, a
 * communicator of a group; before one is finalized. */
void nw_session_opened(void);
void nw_session_named(uintptr_t session, const char *set, MPI_Group group);
void nw_session_comm_made(MPI_Comm comm);
void nw_session_ends(uintptr_t session);

/* A message between two calls (point_to_point.c). */
struct nw_peer_tag {
    int rank, tag;
    MPI_Comm comm;
};
#define NW_PEER_TAG(rank, tag, comm)                                           \
    ((struct nw_peer_tag){(rank), (tag), (comm)})
void nw_sent(struct nw_data data, struct nw_peer_tag to);
void nw_received(struct nw_data data, MPI_Comm comm, const MPI_Status *status);

/* Access to the memory of another rank (onesided.c). */
struct nw_target {
    int rank;
    MPI_Win win;
};
#define NW_TARGET(rank, win) ((struct nw_target){(rank), (win)})
void nw_put(struct nw_data origin, struct nw_target target);
void nw_got(struct nw_data origin, struct nw_target target);
/* Sends the origin's data (nothing for MPI_NO_OP), brings the result. */
void nw_fetched(struct nw_data origin, struct nw_data result,
                struct nw_target target, MPI_Op op);

/* Gives the wrapper a status of its own if the caller passes none and we need
 * the result. */
#define NW_NEED_STATUS(status)                                                 \
    MPI_Status nw_status_;                                                     \
    if (status == MPI_STATUS_IGNORE && nw_gpu_is_used())                       \
    status = &nw_status_

/* Runs `record` into a plan that each start of the request counts. */
#define NW_PLAN(record, request)                                               \
    struct nw_plan nw_plan_ = {0};                                             \
    nw_plan_begin(&nw_plan_);                                                  \
    record;                                                                    \
    nw_plan_end();                                                             \
    nw_plan_made(&nw_plan_, request)

/* Gives the wrapper copies of the handles that the call clears, and statuses if
 * the caller passes none; only while receives are watched. */
#define NW_WATCH_ONE(request, status)                                          \
    MPI_Request nw_request_ = *(request);                                      \
    bool nw_watched_ = nw_requests_are_watched();                              \
    MPI_Status nw_status_;                                                     \
    if (nw_watched_ && status == MPI_STATUS_IGNORE)                            \
    status = &nw_status_
#define NW_WATCH_ALL(count, requests, statuses)                                \
    struct nw_watch nw_watch_;                                                 \
    nw_watch_begin(&nw_watch_, count, requests);                               \
    if (nw_watch_.status && statuses == MPI_STATUSES_IGNORE)                   \
    statuses = nw_watch_.status
/* MPI_Waitany, MPI_Testany: many requests, one status. */
#define NW_WATCH_ANY(count, requests, status)                                  \
    struct nw_watch nw_watch_;                                                 \
    nw_watch_begin(&nw_watch_, count, requests);                               \
    if (nw_watch_.status && status == MPI_STATUS_IGNORE)                       \
    status = nw_watch_.status

#endif

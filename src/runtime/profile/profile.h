/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that the rows of calls.table call. They print nothing but
 * warnings, and do not change the program's arguments. They run with nw_depth
 * raised, so that their own MPI calls are not counted.
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

/* --- beginning and end of recording (start.c) --- */
/* Starts recording. `world` is MPI_COMM_WORLD, or the communicator that
 * replaces it in a program with sessions. Collective over `world`. */
void nw_profile_start(MPI_Comm world);
void nw_profile_finish(void);
void nw_profile_aborted(int code);
/* Warns once that a program without MPI_Init has no profile, with the reason,
 * if NODEWISE_RECORD is set and this is the first process. */
void nw_profile_without_world(const char *reason);
/* MPI_Pcontrol: positive levels turn recording on, others off */
void nw_profile_level(int level);
bool nw_profile_is_on(void);
/* A duplicate of the `world` of nw_profile_start, for messages of this library
 * while calls are recorded. */
extern MPI_Comm nw_profile_comm;
/* Gathers the counts on rank 0, which writes the profile to `path`
 * (gather_and_write.c). Returns false on all ranks if this has failed; the
 * caller then keeps the part files. In a region, only the counts since its
 * beginning are written (region.h). Collective. */
bool nw_profile_gather(MPI_Comm comm, const char *path);

/* --- sessions (session.c) --- nw_session_opened is called after
 * MPI_Session_init, nw_session_named after a group is made of a process set,
 * nw_session_comm_made after a communicator is made of a group, and
 * nw_session_ends before MPI_Session_finalize. */
void nw_session_opened(void);
void nw_session_named(uintptr_t session, const char *set, MPI_Group group);
void nw_session_comm_made(MPI_Comm comm);
void nw_session_ends(uintptr_t session);

/* The partner and the tag of a point-to-point message (point_to_point.c). */
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
/* Records a message with the origin's data to the target (unless `op` is
 * MPI_NO_OP), and one with the result back. */
void nw_fetched(struct nw_data origin, struct nw_data result,
                struct nw_target target, MPI_Op op);

/* Replaces MPI_STATUS_IGNORE by a status in the wrapper, if the profile needs
 * the status. */
#define NW_NEED_STATUS(status)                                                 \
    MPI_Status nw_status_;                                                     \
    if (status == MPI_STATUS_IGNORE && nw_gpu_is_used())                       \
    status = &nw_status_

/* Runs `record` so that it fills a plan. Each start of the persistent request
 * then counts the messages of this plan. */
#define NW_PLAN(record, request)                                               \
    struct nw_plan nw_plan_ = {0};                                             \
    nw_plan_begin(&nw_plan_);                                                  \
    record;                                                                    \
    nw_plan_end();                                                             \
    nw_plan_made(&nw_plan_, request)

/* For a call that completes a request. If some receives are watched: copies the
 * request handle, which the call may clear, and replaces MPI_STATUS_IGNORE by a
 * status in the wrapper. */
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
/* For MPI_Waitany and MPI_Testany, which have many requests but one status. */
#define NW_WATCH_ANY(count, requests, status)                                  \
    struct nw_watch nw_watch_;                                                 \
    nw_watch_begin(&nw_watch_, count, requests);                               \
    if (nw_watch_.status && status == MPI_STATUS_IGNORE)                       \
    status = nw_watch_.status

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stores, by handle, the work to be done when a request completes. An MPI
 * library may give the same handle to several requests that complete at once;
 * then the work of all of them is done. The work is a callback of the entry:
 * request_start.c has the callback of a staged message, sendrecv.c the one of
 * MPI_Isendrecv.
 */
#ifndef NW_MESSAGES_REQUEST_TABLE_H
#define NW_MESSAGES_REQUEST_TABLE_H

#include "runtime/messages/shadow_comm.h"

struct nw_tracked_request {
    struct nw_tracked_request *next;
    MPI_Request request;
    /* Called when the program learns that the request has completed: does the
     * remaining work and sets the status. Called again if the program asks for
     * the status again. */
    int (*complete)(struct nw_tracked_request *kept, MPI_Status *status);
    bool persistent, active, whole;
    struct nw_errhandler_scope whose;
    struct nw_comm_owner owner; /* communicator of the request */
    struct nw_tracked_request *hand,
        **hand_at; /* list of entries outside the table */
    const char *call;
    int count;
    struct nw_buffer *buffer[NW_STAGE_BUFFERS];
    struct nw_catch caught;
    bool owned;   /* caught.type is a duplicate that we free */
    void *memory; /* freed with the entry, or NULL */
    /* MPI's status describes the envelope of a message on the direct path, or
     * the process itself for a message that a probe had taken. If `opened`, the
     * status is reported from the fields below. */
    bool opened;
    bool held; /* a persistent receive that completed without MPI */
    int source, tag;
    MPI_Count bytes;
};

/* In request_table.c: nw_request_table_take removes the entries of a request
 * from the table and returns them as a list; entries of persistent requests
 * only if `all` is true. */
struct nw_tracked_request *nw_request_table_take(MPI_Request request, bool all);
void nw_request_table_remove(
    struct nw_tracked_request *kept); /* removes only this entry */
void nw_request_table_put(
    struct nw_tracked_request *kept); /* puts all entries of the list back */
struct nw_tracked_request *
nw_request_table_find(MPI_Request request,
                      bool (*is)(const struct nw_tracked_request *));
bool nw_request_table_is_persistent(const struct nw_tracked_request *kept);
bool nw_request_table_is_active(const struct nw_tracked_request *kept);
bool nw_request_table_is_opened(const struct nw_tracked_request *kept);
bool nw_request_table_is_held(const struct nw_tracked_request *kept);
void nw_request_table_free(struct nw_tracked_request *kept);
/* Returns whether a request of this communicator is pending, in the table or
 * taken out of it. If `shadow` is not NULL, these requests refer to `shadow`
 * from now on. */
bool nw_request_table_inherit(MPI_Comm comm, struct nw_shadow_comm *shadow);
/* Marks and unmarks a persistent receive that completed without MPI's
 * knowledge, and returns whether there are any. */
void nw_request_table_hold(struct nw_tracked_request *kept);
void nw_request_table_let_go(struct nw_tracked_request *kept);
bool nw_request_table_are_held(void);
/* Stores the status, which is returned if the program asks for it again. */
void nw_request_table_remember(struct nw_tracked_request *kept,
                               const MPI_Status *status);
/* Completes and frees all entries of a list, and returns the error code; if
 * `status` is NULL, only frees them. */
int nw_request_table_finish_all(struct nw_tracked_request *kept,
                                MPI_Status *status);

/* In wait_one.c: the requests of the list completed with an error. Their
 * payloads are withdrawn, since no process will fetch them. */
void nw_request_table_fail(struct nw_tracked_request *kept);

/* In detached_requests.c: completes requests that the program freed before they
 * were complete. */
void nw_detached_reap(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The work that is left for a request, by its handle, until the call that ends
 * the request. An MPI library may give the same handle to several requests that
 * are done at once. Then the work of all of them is done. The work itself is
 * one callback of the entry: request_start.c has the callback of a staged
 * message, sendrecv.c that of MPI_Isendrecv.
 */
#ifndef NW_MESSAGES_REQUEST_TABLE_H
#define NW_MESSAGES_REQUEST_TABLE_H

#include "runtime/messages/shadow_comm.h"

struct nw_tracked_request {
    struct nw_tracked_request *next;
    MPI_Request request;
    /* The program learns that the request ended: does the work that is left
     * and sets the status. Called again if the status is asked for again. */
    int (*complete)(struct nw_tracked_request *kept, MPI_Status *status);
    bool persistent, active, whole;
    struct nw_errhandler_scope whose;
    struct nw_comm_owner owner; /* of its communicator */
    struct nw_tracked_request *hand,
        **hand_at; /* list of entries outside the table */
    const char *call;
    int count;
    struct nw_buffer *buffer[NW_STAGE_BUFFERS];
    struct nw_catch caught;
    bool owned;   /* we own caught.type */
    void *memory; /* freed with the entry, or NULL */
    /* the status to report for a message that used the direct path or was set
     * aside, since MPI's status describes the envelope */
    bool opened;
    bool held; /* a persistent receive that is done without MPI's knowledge */
    int source, tag;
    MPI_Count bytes;
};

/* request_table.c: takes entries out of the table; entries of persistent
 * requests only if `all`. */
struct nw_tracked_request *nw_request_table_take(MPI_Request request, bool all);
void nw_request_table_remove(
    struct nw_tracked_request *kept); /* only this entry */
void nw_request_table_put(
    struct nw_tracked_request *kept); /* puts back all entries of the list */
struct nw_tracked_request *
nw_request_table_find(MPI_Request request,
                      bool (*is)(const struct nw_tracked_request *));
bool nw_request_table_is_persistent(const struct nw_tracked_request *kept);
bool nw_request_table_is_active(const struct nw_tracked_request *kept);
bool nw_request_table_is_opened(const struct nw_tracked_request *kept);
bool nw_request_table_is_held(const struct nw_tracked_request *kept);
void nw_request_table_free(struct nw_tracked_request *kept);
/* Whether a request of this communicator exists, in the table or taken out of
 * it. If `shadow` is not NULL, these requests belong to it from now on. */
bool nw_request_table_inherit(MPI_Comm comm, struct nw_shadow_comm *shadow);
/* Persistent receives that are done without MPI's knowledge. */
void nw_request_table_hold(struct nw_tracked_request *kept);
void nw_request_table_let_go(struct nw_tracked_request *kept);
bool nw_request_table_are_held(void);
/* The status to return if it is asked for again. */
void nw_request_table_remember(struct nw_tracked_request *kept,
                               const MPI_Status *status);
/* Completes and frees all entries of a list; if `status` is NULL, only frees
 * them. */
int nw_request_table_finish_all(struct nw_tracked_request *kept,
                                MPI_Status *status);

/* wait_one.c: the requests ended in an error. No process will fetch their
 * payloads. */
void nw_request_table_fail(struct nw_tracked_request *kept);

/* detached_requests.c: ends requests that the program freed before their end.
 */
void nw_detached_reap(void);

#endif

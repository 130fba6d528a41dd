/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table that stores, for each request that Nodewise tracks, the work to be
 * done when the request completes. The key is the MPI handle. An MPI library
 * may use the same handle for several requests that complete immediately; then
 * the work of all of them is done together. The work is a callback of the
 * entry: request_start.c has the callback for staged messages, sendrecv.c the
 * one for MPI_Isendrecv.
 */
#ifndef NW_MESSAGES_REQUEST_TABLE_H
#define NW_MESSAGES_REQUEST_TABLE_H

#include "runtime/messages/shadow_comm.h"

struct nw_tracked_request {
    struct nw_tracked_request *next;
    MPI_Request request;
    /* Called when the program learns that the request has completed. Does the
     * remaining work and sets the status. Called once more each time the
     * program asks for the status again. */
    int (*complete)(struct nw_tracked_request *kept, MPI_Status *status);
    bool persistent, active, whole;
    struct nw_errhandler_scope whose;
    struct nw_comm_owner owner; /* communicator of the request, for its error
                                   handler */
    struct nw_tracked_request *taken_next,
        **taken_at; /* links of the list of entries that were taken out of the
                       table: the next entry, and the address of the pointer to
                       this entry; `taken_at` is NULL if the entry is not in
                       that list */
    const char *call;
    int count;
    struct nw_buffer *buffer[NW_STAGE_BUFFERS];
    struct nw_catch caught;
    bool owned;   /* caught.type is a duplicate, freed with the entry */
    void *memory; /* memory that is freed with the entry; NULL: none */
    /* True if the status must be taken from the members below. MPI's own status
     * is wrong for an envelope, and for a message that a probe took out of
     * MPI's queue (this process then sends it to itself, and is its source for
     * MPI). */
    bool opened;
    bool held; /* persistent receive that Nodewise completed while MPI's request
                  was not started */
    int source, tag;
    MPI_Count bytes;
};

/* In request_table.c: nw_request_table_take removes the entries of a request
 * from the table and returns them as a list. It removes entries of persistent
 * requests only if `all` is true. */
struct nw_tracked_request *nw_request_table_take(MPI_Request request, bool all);
void nw_request_table_remove(
    struct nw_tracked_request *kept); /* removes the entry `kept` from the
                                         table */
void nw_request_table_put(
    struct nw_tracked_request *kept); /* puts all entries of the list `kept`
                                         back into the table */
struct nw_tracked_request *
nw_request_table_find(MPI_Request request,
                      bool (*is)(const struct nw_tracked_request *));
bool nw_request_table_is_persistent(const struct nw_tracked_request *kept);
bool nw_request_table_is_active(const struct nw_tracked_request *kept);
bool nw_request_table_is_opened(const struct nw_tracked_request *kept);
bool nw_request_table_is_held(const struct nw_tracked_request *kept);
void nw_request_table_free(struct nw_tracked_request *kept);
/* Returns true if a request of this communicator has an entry, in the table or
 * taken out of it: a request that is not complete, or a persistent request. If
 * `shadow` is not NULL, such requests use `shadow` instead of the communicator
 * from now on. */
bool nw_request_table_inherit(MPI_Comm comm, struct nw_shadow_comm *shadow);
/* nw_request_table_hold marks a persistent receive that Nodewise has completed
 * while MPI's request was not started; nw_request_table_let_go removes the
 * mark; nw_request_table_are_held returns true if any request is marked. */
void nw_request_table_hold(struct nw_tracked_request *kept);
void nw_request_table_let_go(struct nw_tracked_request *kept);
bool nw_request_table_are_held(void);
/* Stores the status in the entry, in case the program asks for it again. */
void nw_request_table_remember(struct nw_tracked_request *kept,
                               const MPI_Status *status);
/* Completes and frees all entries of a list, and returns the MPI error code. If
 * `status` is NULL, only frees them. */
int nw_request_table_finish_all(struct nw_tracked_request *kept,
                                MPI_Status *status);

/* In wait_one.c: called if the requests in the list have failed. Withdraws the
 * payloads of active requests from the pool, since no process will copy them.
 * Frees the entries. */
void nw_request_table_fail(struct nw_tracked_request *kept);

/* In detached_requests.c: finishes the requests that the program freed before
 * they were complete, if MPI has completed them since: copies received data to
 * the GPU, and frees the entries. */
void nw_detached_reap(void);

#endif

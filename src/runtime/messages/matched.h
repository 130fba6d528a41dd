/* SPDX-License-Identifier: BSD-3-Clause */
/* A message that a probe took out of MPI's queue. It is in the list of
 * unexpected.c, or matched: the program has got its handle from MPI_Mprobe, or
 * a receive is about to take it. */
#ifndef NW_MESSAGES_MATCHED_H
#define NW_MESSAGES_MATCHED_H

#include "runtime/messages/direct.h"

struct nw_unexpected {
    struct nw_unexpected *next;
    struct nw_comm_owner owner; /* the communicator of the message */
    int source, tag;
    MPI_Count bytes; /* size of the message in bytes; of an envelope, that of
                        its payload */
    MPI_Message message;
    bool taken; /* true: a receive of this message is in progress */
    /* The message has the size of an envelope, so the probe has received it
     * into `envelope` to examine it. This process then sends it to itself by
     * `request`, so that the program can receive it by an MPI_Message. */
    bool forwarded;
    struct nw_envelope envelope;
    MPI_Request request;
};

/* Adds a record to the list of messages that are matched, but not yet received.
 */
void nw_matched_add(struct nw_unexpected *one);
/* Records a message that MPI_Mprobe has returned to the program. Has no effect
 * if out of memory. */
void nw_matched_note(MPI_Comm comm, MPI_Message message);
/* Returns true if the program has matched messages of this communicator that it
 * has not received. If `shadow` is not NULL, these messages refer to `shadow`
 * from now on. */
bool nw_matched_inherit(MPI_Comm comm, struct nw_shadow_comm *shadow);

#endif

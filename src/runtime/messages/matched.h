/* SPDX-License-Identifier: BSD-3-Clause */
/* A message that a probe took out of MPI's queue: set aside (unexpected.c), or
 * in the program's hands. */
#ifndef NW_MESSAGES_MATCHED_H
#define NW_MESSAGES_MATCHED_H

#include "runtime/messages/direct.h"

struct nw_unexpected {
    struct nw_unexpected *next;
    struct nw_comm_owner owner; /* of the program's communicator */
    int source, tag;
    MPI_Count bytes; /* of the payload */
    MPI_Message message;
    bool taken; /* by a receive that has not ended */
    /* an envelope that was read is sent to ourselves, to be a message again */
    bool forwarded;
    struct nw_envelope envelope;
    MPI_Request request;
};

/* The program has matched the message. */
void nw_matched_add(struct nw_unexpected *one);
/* Records a message that MPI matched. No effect if out of memory. */
void nw_matched_note(MPI_Comm comm, MPI_Message message);
/* Whether a matched message of this communicator exists. If `shadow` is not
 * NULL, these messages belong to it from now on. */
bool nw_matched_inherit(MPI_Comm comm, struct nw_shadow_comm *shadow);

#endif

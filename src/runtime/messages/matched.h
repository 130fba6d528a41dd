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
    /* one that was looked into is sent to ourselves, to be a message again */
    bool forwarded;
    struct nw_envelope envelope;
    MPI_Request request;
};

/* It is the program's now. */
void nw_matched_add(struct nw_unexpected *one);
/* The same of one that MPI gave; without memory for it nothing is known. */
void nw_matched_note(MPI_Comm comm, MPI_Message message);

#endif

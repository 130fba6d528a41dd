/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a request of ours still has to do, by its handle, until the program
 * sees its end. An MPI library may give the same handle to several requests
 * that were done at once: then all of them are.
 */
#ifndef NW_MESSAGES_KEPT_H
#define NW_MESSAGES_KEPT_H

#include "runtime/messages/staging.h"

struct nw_kept {
    struct nw_kept *next;
    MPI_Request request;
    bool persistent, active, whole;
    struct nw_whose whose;
    struct nw_ward ward;             /* of its communicator */
    struct nw_kept *hand, **hand_at; /* out of the table, and not freed */
    const char *call;
    int count;
    struct nw_buffer *buffer[NW_STAGE_BUFFERS];
    struct nw_catch caught;
    bool owned; /* its datatype */
    /* what the status of a message that went the direct way, or was set aside,
     * is to say: MPI tells of the envelope */
    bool opened;
    bool held; /* a persistent receive that is done, and MPI knows nothing of */
    int source, tag;
    MPI_Count bytes;
};

/* kept.c: out of the table; those of persistent requests only where `all`. */
struct nw_kept *nw_kept_take(MPI_Request request, bool all);
void nw_kept_remove(struct nw_kept *kept); /* this one */
void nw_kept_put(struct nw_kept *kept); /* all that were taken, into it again */
struct nw_kept *nw_kept_find(MPI_Request request,
                             bool (*is)(const struct nw_kept *));
bool nw_kept_is_persistent(const struct nw_kept *kept);
bool nw_kept_is_active(const struct nw_kept *kept);
bool nw_kept_is_opened(const struct nw_kept *kept);
bool nw_kept_is_held(const struct nw_kept *kept);
void nw_kept_free(struct nw_kept *kept);
/* Whether any is of a communicator, in the table or out of it; where `heir` is
 * not NULL they are his from now on. */
bool nw_kept_inherit(MPI_Comm comm, struct nw_heir *heir);
/* Persistent receives that are done without MPI's knowing. */
void nw_kept_hold(struct nw_kept *kept);
void nw_kept_let_go(struct nw_kept *kept);
bool nw_kept_are_held(void);

/* requests.c: the program sees the end of it: what came goes where it belongs.
 */
int nw_kept_finish(struct nw_kept *kept, MPI_Status *status);
int nw_kept_finish_all(struct nw_kept *kept, MPI_Status *status);
/* They ended in an error: nobody will fetch what they were to send. */
void nw_kept_fail(struct nw_kept *kept);
/* What the status is to say when it is asked for again. */
void nw_kept_remember(struct nw_kept *kept, const MPI_Status *status);

/* orphans.c: those that the program freed while they were under way. */
void nw_orphans_reap(void);

/* given.c: the same of messages. */
bool nw_given_inherit(MPI_Comm comm, struct nw_heir *heir);

/* heirs.c: the same of one; and the end of one of his. NULL is fine. */
bool nw_ward_leave(struct nw_ward *ward, MPI_Comm comm, struct nw_heir *heir);
void nw_heir_drop(struct nw_heir *heir);

#endif

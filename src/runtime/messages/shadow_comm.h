/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the communicators of requests and messages usable after the program has
 * freed them. */
#ifndef NW_MESSAGES_SHADOW_COMM_H
#define NW_MESSAGES_SHADOW_COMM_H

#include "runtime/messages/staging.h"

/* Returns a shadow of `comm`, or NULL if memory is short or MPI fails. */
struct nw_shadow_comm *nw_shadow_comm_new(MPI_Comm comm);
void nw_shadow_comm_drop(struct nw_shadow_comm *shadow); /* NULL is allowed */
/* Returns whether `comm` is the owner's communicator. If `shadow` is not NULL,
 * it replaces that communicator in `owner`. */
bool nw_comm_owner_leave(struct nw_comm_owner *owner, MPI_Comm comm,
                         struct nw_shadow_comm *shadow);
/* Calls the error handler of the owner's communicator with `code`. */
void nw_comm_owner_report(const struct nw_comm_owner *owner, int code);
/* Between these calls, no other thread calls an error handler. */
void nw_shadow_comms_lock(void);
void nw_shadow_comms_unlock(void);

#endif

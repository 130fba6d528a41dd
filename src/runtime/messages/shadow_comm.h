/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps error handlers of communicators usable for requests and messages after
 * the program has freed the communicator. */
#ifndef NW_MESSAGES_SHADOW_COMM_H
#define NW_MESSAGES_SHADOW_COMM_H

#include "runtime/messages/staging.h"

/* Returns a shadow of `comm`: a communicator of this process alone with the
 * same error handler. Not collective. Returns NULL if out of memory or if MPI
 * fails. */
struct nw_shadow_comm *nw_shadow_comm_new(MPI_Comm comm);
void nw_shadow_comm_drop(struct nw_shadow_comm *shadow); /* NULL is allowed */
/* Returns true if `comm` is the communicator of `owner`. Then, if `shadow` is
 * not NULL, `shadow` replaces the communicator in *owner. */
bool nw_comm_owner_leave(struct nw_comm_owner *owner, MPI_Comm comm,
                         struct nw_shadow_comm *shadow);
/* Calls the error handler of the communicator in *owner with the error `code`.
 */
void nw_comm_owner_report(const struct nw_comm_owner *owner, int code);
/* Between nw_shadow_comms_lock and nw_shadow_comms_unlock, no other thread
 * calls an error handler by nw_comm_owner_report. */
void nw_shadow_comms_lock(void);
void nw_shadow_comms_unlock(void);

#endif

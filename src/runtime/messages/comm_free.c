/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_free and MPI_Comm_disconnect. If requests or messages of the
 * communicator are not complete, Nodewise makes a shadow communicator, by which
 * it can report their errors later (shadow_comm.c). */
#include "runtime/messages/matched.h"
#include "runtime/messages/request_table.h"

static void comm_free_leave(MPI_Comm comm)
{
    struct nw_shadow_comm *shadow = NULL;

    if (nw_request_table_inherit(comm, NULL) || nw_matched_inherit(comm, NULL))
        shadow = nw_shadow_comm_new(comm);
    if (shadow) {
        (void)nw_request_table_inherit(comm, shadow);
        (void)nw_matched_inherit(comm, shadow);
    }
    nw_shadow_comm_drop(shadow);
}

int nw_message_part(__typeof__(&MPI_Comm_free) next, MPI_Comm *comm)
{
    nw_shadow_comms_lock();
    if (*comm != MPI_COMM_NULL)
        comm_free_leave(*comm);
    nw_shadow_comms_unlock();
    return next(comm);
}

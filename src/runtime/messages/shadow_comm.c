/* SPDX-License-Identifier: BSD-3-Clause */
/* Shadow communicators. The program may free a communicator before its requests
 * and messages are complete. MPI then keeps the communicator internally, but no
 * longer accepts its handle. So Nodewise makes a shadow communicator with the
 * same error handler, by which it reports their errors. */
#include "runtime/messages/shadow_comm.h"

#include <pthread.h>
#include <stdlib.h>

struct nw_shadow_comm {
    MPI_Comm comm;
    int users;
};

/* Held while an error handler runs, so that no other thread frees its
 * communicator. The mutex is recursive, since the handler itself may free the
 * communicator. */
static pthread_mutex_t telling = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void nw_shadow_comm_drop(struct nw_shadow_comm *shadow)
{
    if (!shadow || __atomic_sub_fetch(&shadow->users, 1, __ATOMIC_ACQ_REL))
        return;
    NW_PMPI(Comm_free)(&shadow->comm);
    free(shadow);
}

/* Uses MPI_Comm_split, because MPI_Comm_dup would call the program's attribute
 * callbacks. */
struct nw_shadow_comm *nw_shadow_comm_new(MPI_Comm comm)
{
    struct nw_shadow_comm *shadow = malloc(sizeof *shadow);
    MPI_Errhandler handler;

    if (!shadow || NW_PMPI(Comm_split)(MPI_COMM_SELF, 0, 0, &shadow->comm)) {
        free(shadow);
        return NULL;
    }
    shadow->users = 1;
    if (!NW_PMPI(Comm_get_errhandler)(comm, &handler)) {
        NW_PMPI(Comm_set_errhandler)(shadow->comm, handler);
        NW_PMPI(Errhandler_free)(&handler);
    }
    return shadow;
}

bool nw_comm_owner_leave(struct nw_comm_owner *owner, MPI_Comm comm,
                         struct nw_shadow_comm *shadow)
{
    if (owner->comm != comm)
        return false;
    if (shadow) {
        (void)__atomic_add_fetch(&shadow->users, 1, __ATOMIC_RELAXED);
        *owner = (struct nw_comm_owner){shadow->comm, shadow};
    }
    return true;
}

void nw_shadow_comms_lock(void)
{
    if (nw_threaded)
        pthread_mutex_lock(&telling);
}

void nw_shadow_comms_unlock(void)
{
    if (nw_threaded)
        pthread_mutex_unlock(&telling);
}

void nw_comm_owner_report(const struct nw_comm_owner *owner, int code)
{
    nw_shadow_comms_lock();
    NW_PMPI(Comm_call_errhandler)(owner->comm, code);
    nw_shadow_comms_unlock();
}

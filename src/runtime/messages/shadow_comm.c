/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators that the program frees ahead of requests of theirs, or
 * messages: one of ours, with the same error handler, hears of their errors.
 * MPI keeps the freed one for itself, and takes its handle for none. */
#include "runtime/messages/request_table.h"

#include <pthread.h>
#include <stdlib.h>

struct nw_shadow_comm {
    MPI_Comm comm;
    int users;
};

/* A communicator that is told of an error is not freed meanwhile, by another
 * thread; whoever is told may free it. */
static pthread_mutex_t telling = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void nw_shadow_comm_drop(struct nw_shadow_comm *heir)
{
    if (!heir || __atomic_sub_fetch(&heir->users, 1, __ATOMIC_ACQ_REL))
        return;
    NW_PMPI(Comm_free)(&heir->comm);
    free(heir);
}

/* A duplicate would call the program's functions for its attributes. */
static struct nw_shadow_comm *heir_new(MPI_Comm comm)
{
    struct nw_shadow_comm *heir = malloc(sizeof *heir);
    MPI_Errhandler handler;

    if (!heir || NW_PMPI(Comm_split)(MPI_COMM_SELF, 0, 0, &heir->comm)) {
        free(heir);
        return NULL;
    }
    heir->users = 1;
    if (!NW_PMPI(Comm_get_errhandler)(comm, &handler)) {
        NW_PMPI(Comm_set_errhandler)(heir->comm, handler);
        NW_PMPI(Errhandler_free)(&handler);
    }
    return heir;
}

bool nw_comm_owner_leave(struct nw_comm_owner *ward, MPI_Comm comm,
                         struct nw_shadow_comm *heir)
{
    if (ward->comm != comm)
        return false;
    if (heir) {
        (void)__atomic_add_fetch(&heir->users, 1, __ATOMIC_RELAXED);
        *ward = (struct nw_comm_owner){heir->comm, heir};
    }
    return true;
}

void nw_comm_owner_report(const struct nw_comm_owner *ward, int code)
{
    if (nw_threaded)
        pthread_mutex_lock(&telling);
    NW_PMPI(Comm_call_errhandler)(ward->comm, code);
    if (nw_threaded)
        pthread_mutex_unlock(&telling);
}

static void leave(MPI_Comm comm)
{
    struct nw_shadow_comm *heir = NULL;

    if (nw_request_table_inherit(comm, NULL) || nw_matched_inherit(comm, NULL))
        heir = heir_new(comm);
    if (heir) {
        (void)nw_request_table_inherit(comm, heir);
        (void)nw_matched_inherit(comm, heir);
    }
    nw_shadow_comm_drop(heir);
}

int nw_message_part(__typeof__(&MPI_Comm_free) next, MPI_Comm *comm)
{
    if (nw_threaded)
        pthread_mutex_lock(&telling);
    if (*comm != MPI_COMM_NULL)
        leave(*comm);
    if (nw_threaded)
        pthread_mutex_unlock(&telling);
    return next(comm);
}

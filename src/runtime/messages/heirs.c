/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators that the program frees ahead of requests of theirs: one of
 * ours, with the same error handler, hears of their errors. MPI keeps the freed
 * one for itself, and takes its handle for none. */
#include "runtime/messages/kept.h"

#include <stdlib.h>

struct nw_heir {
    MPI_Comm comm;
    int users;
};

void nw_heir_drop(struct nw_heir *heir)
{
    if (!heir || __atomic_sub_fetch(&heir->users, 1, __ATOMIC_ACQ_REL))
        return;
    NW_PMPI(Comm_free)(&heir->comm);
    free(heir);
}

/* A duplicate would call the program's functions for its attributes. */
static struct nw_heir *heir_new(MPI_Comm comm)
{
    struct nw_heir *heir = malloc(sizeof *heir);
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

bool nw_heir_take(struct nw_kept *list, MPI_Comm comm, struct nw_heir *heir)
{
    bool any = false;

    for (struct nw_kept *kept = list; kept; kept = kept->next) {
        if (kept->whose.comm != comm)
            continue;
        any = true;
        if (!heir)
            continue;
        kept->whose.comm = heir->comm;
        kept->heir = heir;
        (void)__atomic_add_fetch(&heir->users, 1, __ATOMIC_RELAXED);
    }
    return any;
}

int nw_message_part(__typeof__(&MPI_Comm_free) next, MPI_Comm *comm)
{
    struct nw_heir *heir = NULL;

    if (*comm != MPI_COMM_NULL &&
        (nw_kept_inherit(*comm, NULL) || nw_orphans_inherit(*comm, NULL)))
        heir = heir_new(*comm);
    if (heir) {
        (void)nw_kept_inherit(*comm, heir);
        (void)nw_orphans_inherit(*comm, heir);
    }
    nw_heir_drop(heir);
    return next(comm);
}

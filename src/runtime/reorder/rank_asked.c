/* SPDX-License-Identifier: BSD-3-Clause */
/* With NODEWISE_CHECK=1, checks whether the program asks for its rank in a
 * reordered communicator. A program that keeps using its old rank would compute
 * with the neighbours of another process. If the program has not asked, rank 0
 * of the communicator warns when the communicator is freed or at the end of the
 * program; each process that calls MPI_Abort warns, too. A process warns only
 * once. */
#include "runtime/reorder/reorder.h"

#include "runtime/warn.h"

#include <stdlib.h>

/* A reordered communicator and its duplicates. */
struct watched {
    struct watched *next;
    const char *call; /* the MPI function that created it */
    bool asked;
    bool first; /* this process has rank 0 in it */
    int users;
};

static int key = MPI_KEYVAL_INVALID;
static struct watched *all; /* list; its entries are never freed */
static bool warned;

static void asked_warn(const struct watched *watched)
{
    if (!__atomic_load_n(&watched->asked, __ATOMIC_RELAXED) &&
        !__atomic_exchange_n(&warned, true, __ATOMIC_RELAXED))
        nw_warn("%s gave a reordered communicator, but the program never asked "
                "for its rank in it: it may use wrong neighbours; leave "
                "NODEWISE_REORDER off for it",
                watched->call);
}

static int asked_copy(MPI_Comm comm, int keyval, void *extra, void *in,
                      void *out, int *flag)
{
    struct watched *watched = in;

    (void)comm, (void)keyval, (void)extra;
    __atomic_add_fetch(&watched->users, 1, __ATOMIC_RELAXED);
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int asked_drop(MPI_Comm comm, int keyval, void *value, void *extra)
{
    struct watched *watched = value;

    (void)comm, (void)keyval, (void)extra;
    if (!__atomic_sub_fetch(&watched->users, 1, __ATOMIC_ACQ_REL) &&
        watched->first)
        asked_warn(watched);
    return MPI_SUCCESS;
}

void nw_asked_watch(const struct nw_call *call, MPI_Comm made, int rank)
{
    struct watched *watched;

    if (!call->moved ||
        (key == MPI_KEYVAL_INVALID &&
         NW_PMPI(Comm_create_keyval)(asked_copy, asked_drop, &key, NULL)))
        return;
    watched = calloc(1, sizeof *watched);
    if (!watched)
        return;
    watched->call = call->name;
    watched->users = 1;
    watched->first = !rank;
    if (NW_PMPI(Comm_set_attr)(made, key, watched)) {
        free(watched);
        return;
    }
    watched->next = __atomic_load_n(&all, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&all, &watched->next, watched, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

void nw_asked_note(MPI_Comm comm)
{
    struct watched *watched = NULL;
    int found = 0;

    if (key != MPI_KEYVAL_INVALID &&
        !NW_PMPI(Comm_get_attr)(comm, key, &watched, &found) && found)
        __atomic_store_n(&watched->asked, true, __ATOMIC_RELAXED);
}

/* Warns if the program never asked for its rank in one of the communicators in
 * which this process has rank 0; if `each` is true, in any communicator. */
static void asked_warn_all(bool each)
{
    struct watched *watched = __atomic_load_n(&all, __ATOMIC_ACQUIRE);

    for (; watched; watched = watched->next)
        if (each || watched->first)
            asked_warn(watched);
}

void nw_asked_abort(void)
{
    asked_warn_all(true);
}

/* Communicators that the program has not freed keep their attributes until
 * MPI_Finalize frees them. */
void nw_asked_finish(void)
{
    asked_warn_all(false);
    if (key != MPI_KEYVAL_INVALID)
        NW_PMPI(Comm_free_keyval)(&key);
}

/* Warns at exit, too, since a program with wrong neighbours often ends without
 * MPI_Finalize. */
__attribute__((destructor)) static void asked_exit(void)
{
    if (nw_is_reordering())
        asked_warn_all(false);
}

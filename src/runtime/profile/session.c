/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Supports programs that use MPI sessions and never call MPI_Init. The first
 * communicator of all processes replaces MPI_COMM_WORLD, from its creation
 * until its session ends or MPI_Finalize. This is done only if exactly one
 * session is open at that time; with several, the communicator could belong to
 * any of them. Session handles are passed as integers, since older MPI
 * libraries do not have the type.
 */
#include "runtime/profile/profile.h"

#include <pthread.h>
#include <strings.h>

static struct {
    pthread_mutex_t lock;
    int open;          /* number of open sessions */
    uintptr_t session; /* the first session that asked for mpi://WORLD; another
                          may follow if it ends without a profile */
    int size, rank;    /* of mpi://WORLD; size 0: no session has asked for it */
    bool claimed;      /* a communicator of all processes was created */
    bool recorded;
    /* why no profile is written; NULL: it is written, or another cause */
    const char *reason;
} world = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .reason = "the program uses MPI sessions and creates no "
                     "communicator of all processes (mpi://WORLD)"};

void nw_session_opened(void)
{
    pthread_mutex_lock(&world.lock);
    world.open++;
    pthread_mutex_unlock(&world.lock);
}

void nw_session_named(uintptr_t session, const char *set, MPI_Group group)
{
    int size, rank;

    if (strcasecmp(set, "mpi://WORLD") || NW_PMPI(Group_size)(group, &size) ||
        NW_PMPI(Group_rank)(group, &rank))
        return;
    pthread_mutex_lock(&world.lock);
    if (!world.size) {
        world.session = session;
        world.size = size;
        world.rank = rank;
    }
    pthread_mutex_unlock(&world.lock);
}

/* Returns true if `comm` is the first communicator of all processes and exactly
 * one session is open. All ranks get the same result, since they create
 * communicators in the same order. */
static bool session_claim(MPI_Comm comm)
{
    int size = 0;
    bool first;

    if (NW_PMPI(Comm_size)(comm, &size))
        return false;
    pthread_mutex_lock(&world.lock);
    first = size == world.size && !world.claimed;
    if (first) {
        world.claimed = true;
        first = world.open == 1;
        world.reason = first ? NULL : "several MPI sessions are open at once";
    }
    pthread_mutex_unlock(&world.lock);
    return first;
}

void nw_session_comm_made(MPI_Comm comm)
{
    int rank = -1;

    if (!session_claim(comm))
        return;
    nw_rank0_environment_meet(comm);
    if (!nw_rank0_environment_joined())
        return;
    NW_PMPI(Comm_rank)(comm, &rank);
    world.recorded = nw_all_ranks(comm, rank == world.rank);
    if (world.recorded)
        nw_profile_start(comm);
    else
        world.reason = "the communicator of the MPI session has its ranks in "
                       "another order than mpi://WORLD";
}

void nw_session_ends(uintptr_t session)
{
    bool ours, last;

    pthread_mutex_lock(&world.lock);
    ours = world.size && session == world.session;
    last = !--world.open;
    if (ours && !world.recorded)
        world.size = 0;
    pthread_mutex_unlock(&world.lock);
    if (ours && world.recorded)
        nw_profile_finish();
    if (last && world.reason)
        nw_profile_without_world(world.reason);
}

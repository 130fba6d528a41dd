/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded under MPICH programs on pretended hosts. MPICH spins while it
 * waits, which on a few shared cores starves the rank it waits for: here it
 * yields. And MPICH 4.0.2 over UCX's TCP hangs in MPI_Finalize where one rank
 * still takes leave of another that already waits for all: here nobody takes
 * leave. A program must end with a barrier, so that no message is under way.
 */
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>

unsigned ucp_worker_progress(void *worker);
void *ucp_disconnect_nb(void *endpoint);

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*progress)(void *);
    unsigned done;

    if (!progress)
        *(void **)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
    done = progress(worker);
    if (!done)
        sched_yield();
    return done;
}

void *ucp_disconnect_nb(void *endpoint)
{
    (void)endpoint;
    return NULL;
}

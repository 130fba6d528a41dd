/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded under MPICH programs of more ranks than cores. MPICH spins while it
 * waits, which on a few shared cores starves the rank it waits for: here it
 * yields, as Open MPI does when it is asked to.
 */
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker);

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

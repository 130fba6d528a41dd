/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that is preloaded into MPICH programs with more ranks than cores.
 * MPICH spins while it waits, which on a few shared cores starves the rank it
 * waits for. This library yields the core whenever MPICH made no progress, as
 * Open MPI does on request. */
#include <dlfcn.h>
#include <sched.h>

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*progress)(void *);
    unsigned done;

    if (!progress)
        *(void **)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
    /* an MPI that Python loaded for its module alone is not next to us */
    if (!progress)
        *(void **)&progress =
            dlsym(dlopen("libucp.so.0", RTLD_LAZY), "ucp_worker_progress");
    done = progress(worker);
    if (!done)
        sched_yield();
    return done;
}

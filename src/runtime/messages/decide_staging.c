/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides in MPI_Init whether buffers in GPU memory are staged. */
#include "runtime/messages/staging.h"

#include "gpu/gpu.h"
#include "runtime/aware.h"
#include "runtime/rank0_environment.h"
#include "runtime/messages/passthrough.h"
#include "runtime/warn.h"

#include <stdlib.h>
#include <string.h>

void nw_messages_start(void)
{
    const char *mode = nw_rank0_environment_variable("NODEWISE_GPU_MESSAGES");
    bool set = mode, on = set && !strcmp(mode, "on");
    bool off = set && !strcmp(mode, "off"), aware;
    int threads = MPI_THREAD_SINGLE;

    nw_gpu_start();
    if (set && !on && !off && strcmp(mode, "auto"))
        nw_warn_once("NODEWISE_GPU_MESSAGES=%s is unknown; use off, on or auto",
                     mode);
    aware = !off && !on && nw_mpi_takes_gpu_memory();
    if (set && nw_all_ranks(MPI_COMM_WORLD, aware) && !nw_passthrough_start())
        off = true;
    NW_PMPI(Query_thread)(&threads);
    nw_threaded = threads == MPI_THREAD_MULTIPLE;
    if (!off && (!aware || nw_passthrough))
        __atomic_store_n(&nw_messaging, true, __ATOMIC_RELEASE);
    nw_algorithms_start(nw_messaging);
    nw_direct_start(nw_messaging);
}

void nw_messages_finish(void)
{
    if (!nw_messaging)
        return;
    nw_requests_finish();
    nw_direct_finish();
    nw_algorithms_finish();
    __atomic_store_n(&nw_messaging, false, __ATOMIC_RELEASE);
    nw_copies_close();
    nw_buffers_close();
    nw_pinned_cache_close();
    nw_typemaps_close();
}

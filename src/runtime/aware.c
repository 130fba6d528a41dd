/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks each MPI library by its own query function: MPIX_Query_cuda_support in
 * Open MPI and MVAPICH, MPIX_GPU_query_support in MPICH 4.0 and later. Cray
 * MPICH is asked by its variable MPICH_GPU_SUPPORT_ENABLED. */
#include "runtime/aware.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { MPICH_CUDA = 0 };

static bool is_yes(const char *word)
{
    return strcmp(word, "no") && strcmp(word, "0");
}

bool nw_mpi_takes_gpu_memory(void)
{
    const char *word = getenv("NODEWISE_GPU_AWARE");
    const char *cray = getenv("MPICH_GPU_SUPPORT_ENABLED");
    int (*query)(void);
    int (*support)(int, int *);
    int yes = 0;

    if (word && *word)
        return is_yes(word);
    *(void **)&query = dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support");
    if (query && query())
        return true;
    *(void **)&support = dlsym(RTLD_DEFAULT, "MPIX_GPU_query_support");
    if (support && !support(MPICH_CUDA, &yes) && yes)
        return true;
    return cray && *cray && is_yes(cray);
}

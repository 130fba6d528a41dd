/* SPDX-License-Identifier: BSD-3-Clause */
/* Open MPI and MVAPICH answer MPIX_Query_cuda_support, MPICH since 4.0
 * MPIX_GPU_query_support; for Cray's MPICH the user sets NODEWISE_GPU_AWARE. */
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

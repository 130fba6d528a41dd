/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks the CUDA driver whether a buffer is in GPU memory, if the program has
 * loaded the driver. Without a driver this costs two loads, or a look at the
 * clock after the program has loaded other libraries.
 */
#ifndef NW_GPU_MEMORY_H
#define NW_GPU_MEMORY_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

/* Returns true if the address lies in GPU memory or CUDA managed memory and a
 * CUDA context has been seen (nw_gpu_is_used). */
bool nw_gpu_holds(const void *address);
/* Returns true if the address lies in CUDA managed memory, which the CPU and so
 * every MPI library can access. */
bool nw_gpu_is_managed(const void *address);
/* Called at the end of MPI_Init, so that nw_gpu_is_used costs two loads until
 * another library is loaded. */
void nw_gpu_start(void);
/* The last library in the loader's list at nw_gpu_start if the list had no CUDA
 * driver; this library is never unloaded. NULL: the list must be searched. */
extern struct link_map *nw_gpu_last_library;
/* Returns true once a CUDA context has been seen. Searches for one, unless this
 * thread did so in the last 4 ms. */
bool nw_gpu_look(void);

/* Returns true once a CUDA context has been seen in this process. */
static inline bool nw_gpu_is_used(void)
{
    struct link_map *last =
        __atomic_load_n(&nw_gpu_last_library, __ATOMIC_ACQUIRE);

    return (!last || __atomic_load_n(&last->l_next, __ATOMIC_RELAXED)) &&
           nw_gpu_look();
}

#endif

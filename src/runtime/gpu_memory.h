/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks the CUDA driver, if the program has loaded one, whether a buffer is GPU
 * memory. Without a driver the question costs next to nothing.
 */
#ifndef NW_GPU_MEMORY_H
#define NW_GPU_MEMORY_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

/* True if the address lies in GPU or managed memory. */
bool nw_gpu_holds(const void *address);
/* The last library that was loaded when no driver was found among them; it
 * stays loaded. NULL: ask. */
extern struct link_map *nw_gpu_last_library;
bool nw_gpu_look(void);

/* True once the process was seen with a CUDA context. Until another library is
 * loaded, the process cannot have one. */
static inline bool nw_gpu_is_used(void)
{
    struct link_map *last =
        __atomic_load_n(&nw_gpu_last_library, __ATOMIC_ACQUIRE);

    return (!last || __atomic_load_n(&last->l_next, __ATOMIC_RELAXED)) &&
           nw_gpu_look();
}

#endif

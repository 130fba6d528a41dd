/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a buffer is GPU memory, as the CUDA driver says where the program
 * has one loaded. Costs next to nothing where it has none.
 */
#ifndef NW_GPU_MEMORY_H
#define NW_GPU_MEMORY_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

/* True where the address lies in GPU or managed memory. */
bool nw_gpu_holds(const void *address);
/* The last library that was loaded when no driver was found among them; it
 * stays loaded. NULL: ask. */
extern struct link_map *nw_gpu_last_library;
bool nw_gpu_look(void);

/* True once the process was seen with a CUDA context. While nothing was loaded
 * there can be none. */
static inline bool nw_gpu_is_used(void)
{
    struct link_map *last =
        __atomic_load_n(&nw_gpu_last_library, __ATOMIC_ACQUIRE);

    return (!last || __atomic_load_n(&last->l_next, __ATOMIC_RELAXED)) &&
           nw_gpu_look();
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A preloaded library for nodewise-mpdata: on the rank NW_SHORT_RANK, the
 * allocation with index NW_SHORT_AT that the program itself makes fails. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_memalign(size_t unit, size_t bytes);

/* Returns true if the allocation that `caller` asks for must fail. */
static int short_memory_fails(void *caller)
{
    static int next;
    const char *rank = getenv("PMI_RANK"), *at = getenv("NW_SHORT_AT"),
               *who = getenv("NW_SHORT_RANK");
    Dl_info info;

    if (!rank)
        rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!rank || !at || !who || strcmp(rank, who) || !dladdr(caller, &info) ||
        !strstr(info.dli_fname, "nodewise-mpdata"))
        return 0;
    return next++ == atoi(at);
}

void *malloc(size_t bytes)
{
    return short_memory_fails(__builtin_return_address(0))
               ? NULL
               : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return short_memory_fails(__builtin_return_address(0))
               ? NULL
               : __libc_calloc(count, bytes);
}

void *aligned_alloc(size_t unit, size_t bytes)
{
    return short_memory_fails(__builtin_return_address(0))
               ? NULL
               : __libc_memalign(unit, bytes);
}

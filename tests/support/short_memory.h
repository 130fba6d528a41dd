/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces malloc, calloc, realloc and aligned_alloc in the program that
 * includes this header. If short_memory is n, the allocation with index n that
 * Nodewise's library makes from now on fails, and short_memory becomes
 * SHORT_MEMORY_OFF. Not for builds under a sanitizer. */
#ifndef NW_TEST_SHORT_MEMORY_H
#define NW_TEST_SHORT_MEMORY_H

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

enum { SHORT_MEMORY_OFF = -1 };
static int short_memory = SHORT_MEMORY_OFF;

static int short_memory_fails(void *caller)
{
    Dl_info info;

    if (short_memory == SHORT_MEMORY_OFF || !dladdr(caller, &info) ||
        !strstr(info.dli_fname, "libnodewise"))
        return 0;
    return short_memory-- == 0;
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

void *realloc(void *old, size_t bytes)
{
    return short_memory_fails(__builtin_return_address(0))
               ? NULL
               : __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return short_memory_fails(__builtin_return_address(0))
               ? NULL
               : __libc_memalign(alignment, bytes);
}

#endif

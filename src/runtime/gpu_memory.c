/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks the CUDA driver that the program loaded, and never loads a driver
 * itself. No search begins before another library is loaded after MPI_Init,
 * unless the driver was loaded already. While no CUDA context exists, no buffer
 * is looked up. Each thread checks for a context at most every 4 ms, since
 * creating a context takes longer than that. Once a context was seen, every
 * buffer is looked up unless it is near the top of the stack, since an address
 * may be freed and used again.
 */
#include "runtime/gpu_memory.h"

#include "base/readable.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Declarations of the few CUDA driver functions and constants used here. */
enum { CU_MEMORY_TYPE = 2, CU_IS_MANAGED = 8, CU_SUCCESS = 0 };
enum { CU_MEMORY_DEVICE = 2, CU_MEMORY_UNIFIED = 4 };
/* CUDA_ERROR_INVALID_VALUE: the driver did not allocate the memory. */
enum { CU_NOT_ITS_OWN = 1 };
typedef int (*pointer_query)(void *out, int attribute, uint64_t pointer);
typedef int (*context_query)(void **context);
typedef int (*count_query)(int *count);
typedef int (*primary_query)(int device, unsigned *flags, int *active);

#define LOOK_EVERY_MS 4

struct link_map *nw_gpu_last_library;
static pointer_query get_attribute; /* NULL until a context was seen */
/* Time of this thread's last look, in milliseconds. Thread-local: another
 * thread's look may have come just before this thread created its context. */
static _Thread_local int64_t looked_at;

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool has_primary_context(void *driver)
{
    primary_query query =
        (primary_query)dlsym(driver, "cuDevicePrimaryCtxGetState");
    count_query count_devices = (count_query)dlsym(driver, "cuDeviceGetCount");
    int count = 0, active = 0;
    unsigned flags;

    if (!query || !count_devices || count_devices(&count) != CU_SUCCESS)
        return false;
    for (int device = 0; device < count && !active; device++)
        if (query(device, &flags, &active) != CU_SUCCESS)
            active = 0;
    return active;
}

static bool has_context(void *driver)
{
    context_query current = (context_query)dlsym(driver, "cuCtxGetCurrent");
    void *context = NULL;

    if (!current || current(&context) != CU_SUCCESS)
        return false; // the driver is not initialised
    return context || has_primary_context(driver);
}

static void look_for_context(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *query;

    if (!driver)
        return;
    query = dlsym(driver, "cuPointerGetAttribute");
    if (query && has_context(driver))
        __atomic_store_n(&get_attribute, (pointer_query)query,
                         __ATOMIC_RELEASE);
    dlclose(driver);
}

/* Sets *library to the last library in the loader's list. A callback of
 * dl_iterate_phdr, which holds the loader's lock of that list. So nothing here
 * may call the loader: a dlopen in another thread holds the loader's other lock
 * while it waits for this one. */
static int find_last(struct dl_phdr_info *first, size_t size, void *library)
{
    struct link_map **last = library;

    (void)first, (void)size;
    while ((*last)->l_next)
        *last = (*last)->l_next;
    return 1;
}

/* Returns the last library in the loader's list, after preventing that it is
 * unloaded; NULL if that fails. The loader appends new libraries after this
 * one. */
static struct link_map *last_library(void)
{
    struct link_map *last =
        NULL; // begins as this library, which is never unloaded
    Dl_info info;

    if (!dladdr1((void *)&nw_gpu_last_library, &info, (void **)&last,
                 RTLD_DL_LINKMAP) ||
        !last)
        return NULL;
    dl_iterate_phdr(find_last, &last);
    if (!last->l_name[0] ||
        !dlopen(last->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE))
        return NULL;
    return last;
}

/* The last library of the list is kept loaded. During MPI_Init, this library
 * belongs to MPI or was loaded before main. A library that the program loads
 * later, such as a plug-in that it has compiled, is not kept: the program may
 * unload the library and load a new version. */
void nw_gpu_start(void)
{
    struct link_map *last =
        last_library(); // before dlopen: another thread may load the driver now
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);

    __atomic_store_n(&nw_gpu_last_library, driver ? NULL : last,
                     __ATOMIC_RELEASE);
    if (driver)
        dlclose(driver);
}

bool nw_gpu_look(void)
{
    int64_t now;

    if (__atomic_load_n(&get_attribute, __ATOMIC_ACQUIRE))
        return true;
    now = now_ms();
    if (now - looked_at < LOOK_EVERY_MS)
        return false;
    looked_at = now;
    look_for_context();
    return __atomic_load_n(&get_attribute, __ATOMIC_ACQUIRE);
}

/* Returns true if the address is within the 4 KiB page of this stack frame. The
 * rest of the stack is not tested, because thread stacks are mapped next to
 * other memory, which may be a GPU's. */
static bool is_on_stack(uintptr_t address)
{
    return (address ^ (uintptr_t)__builtin_frame_address(0)) < 1u << 12;
}

/* A driver after a fatal error no longer knows its memory. In that state,
 * memory that the CPU cannot read still counts as GPU memory, so that its use
 * gives an error instead of a crash. */
bool nw_gpu_holds(const void *address)
{
    pointer_query query;
    unsigned type = 0;
    int code;

    if (!nw_gpu_is_used() || !address || is_on_stack((uintptr_t)address))
        return false;
    query = __atomic_load_n(&get_attribute, __ATOMIC_RELAXED);
    code = query(&type, CU_MEMORY_TYPE, (uintptr_t)address);
    return code == CU_SUCCESS
               ? type == CU_MEMORY_DEVICE || type == CU_MEMORY_UNIFIED
               : code != CU_NOT_ITS_OWN && nw_is_out_of_reach(address);
}

bool nw_gpu_is_managed(const void *address)
{
    pointer_query query = __atomic_load_n(&get_attribute, __ATOMIC_ACQUIRE);
    unsigned managed = 0;

    return query &&
           query(&managed, CU_IS_MANAGED, (uintptr_t)address) == CU_SUCCESS &&
           managed;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A test double of the CUDA driver, libcuda.so.1: "GPU" memory is host memory
 * that it has marked, so that code which asks the driver whose a pointer is
 * can be tested without a GPU. Signatures are those of the real driver, where
 * making a context takes time too.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define API __attribute__((visibility("default")))

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    INVALID_DEVICE = 101
};
enum { ATTRIBUTE_MEMORY_TYPE = 2, MEMORY_DEVICE = 2 };

struct range {
    struct range *next;
    uintptr_t start;
    size_t size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range *ranges;
static int initialised, retained;
static unsigned long queries;
static _Thread_local void *current;
static int primary; /* its address is the primary context */

API int cuInit(unsigned flags)
{
    struct timespec time = {.tv_nsec = 20 * 1000 * 1000};

    if (flags)
        return INVALID_VALUE;
    nanosleep(&time, NULL);
    initialised = 1;
    return SUCCESS;
}

API int cuDeviceGetCount(int *count)
{
    *count = 1;
    return initialised ? SUCCESS : NOT_INITIALIZED;
}

API int cuDevicePrimaryCtxRetain(void **context, int device)
{
    struct timespec time = {.tv_nsec = 20 * 1000 * 1000};

    if (!initialised)
        return NOT_INITIALIZED;
    if (device)
        return INVALID_DEVICE;
    nanosleep(&time, NULL);
    retained++;
    *context = &primary;
    return SUCCESS;
}

API int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    if (!initialised)
        return NOT_INITIALIZED;
    if (device)
        return INVALID_DEVICE;
    *flags = 0;
    *active = retained > 0;
    return SUCCESS;
}

API int cuCtxSetCurrent(void *context)
{
    current = context;
    return initialised ? SUCCESS : NOT_INITIALIZED;
}

API int cuCtxGetCurrent(void **context)
{
    *context = current;
    return initialised ? SUCCESS : NOT_INITIALIZED;
}

API int cuMemAlloc_v2(uint64_t *pointer, size_t size)
{
    struct range *range = malloc(sizeof *range);
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (!range || pages == MAP_FAILED || !retained) {
        free(range);
        return retained ? OUT_OF_MEMORY : NOT_INITIALIZED;
    }
    range->start = (uintptr_t)pages;
    range->size = size;
    pthread_mutex_lock(&lock);
    range->next = ranges;
    ranges = range;
    pthread_mutex_unlock(&lock);
    *pointer = range->start;
    return SUCCESS;
}

API int cuMemFree_v2(uint64_t pointer)
{
    struct range **at = &ranges, *range;

    pthread_mutex_lock(&lock);
    while (*at && (*at)->start != pointer)
        at = &(*at)->next;
    range = *at;
    if (range)
        *at = range->next;
    pthread_mutex_unlock(&lock);
    if (!range)
        return INVALID_VALUE;
    munmap((void *)range->start, range->size);
    free(range);
    return SUCCESS;
}

API int cuPointerGetAttribute(void *out, int attribute, uint64_t pointer)
{
    int result = INVALID_VALUE; /* as the driver answers for host memory */

    pthread_mutex_lock(&lock);
    queries++;
    for (struct range *r = ranges; r && result; r = r->next)
        if (pointer - r->start < r->size && attribute == ATTRIBUTE_MEMORY_TYPE)
            result = SUCCESS;
    pthread_mutex_unlock(&lock);
    if (!result)
        *(unsigned *)out = MEMORY_DEVICE;
    return result;
}

API int cuDeviceGet(int *device, int ordinal)
{
    if (ordinal)
        return INVALID_DEVICE;
    *device = 0;
    return initialised ? SUCCESS : NOT_INITIALIZED;
}

static int holds(uint64_t pointer, size_t size)
{
    int found = 0;

    pthread_mutex_lock(&lock);
    for (struct range *r = ranges; r && !found; r = r->next)
        found = pointer - r->start <= r->size &&
                size <= r->size - (pointer - r->start);
    pthread_mutex_unlock(&lock);
    return found;
}

API int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size)
{
    if (!holds(to, size))
        return INVALID_VALUE;
    memcpy((void *)(uintptr_t)to, from, size);
    return SUCCESS;
}

/* FAKE_CUDA_SPOIL makes it a bad driver: one byte comes back wrong. */
API int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size)
{
    if (!holds(from, size))
        return INVALID_VALUE;
    memcpy(to, (void *)(uintptr_t)from, size);
    if (getenv("FAKE_CUDA_SPOIL") && size)
        ((char *)to)[0] ^= 1;
    return SUCCESS;
}

/* How often a pointer was asked about; not in the real driver. */
API unsigned long fake_cuda_queries(void)
{
    return queries;
}

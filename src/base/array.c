/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocation in one place, so that every size is checked the same way. */
#include "base/array.h"
#include "base/status.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE ((size_t)1 << 18)
/* nw_alloc takes arrays of at most this many bytes from malloc, which has a
 * cache for each thread, and clears them. calloc would take a lock. */
#define SMALL ((size_t)1 << 10)

static nw_status array_no_memory(size_t count, size_t size)
{
    return nw_fail(NW_ENOMEM, "out of memory for %zu x %zu bytes", count, size);
}

/* Chooses the address range for which large pages are requested; `begin` and
 * `end` are those of a new array. If the array is in the heap, the range is
 * extended to the end of the heap, once after each growth of the heap.
 * Otherwise the kernel would split a large page that ends in memory for which
 * large pages are not requested. Returns the end of the range, or `begin` if
 * the heap already has the request. */
static uintptr_t want_heap(uintptr_t begin, uintptr_t end)
{
    static uintptr_t said; /* the heap's end when large pages were last
                              requested */
    uintptr_t top = (uintptr_t)sbrk(0);
    uintptr_t before = __atomic_load_n(&said, __ATOMIC_RELAXED);

    if (end > top)
        return end;
    if (before == top)
        return begin;
    __atomic_store_n(&said, top, __ATOMIC_RELAXED);
    return top;
}

/* Asks the kernel to use large pages for a large array. Otherwise the first
 * access to each page of 4 KB costs a page fault; these took a third of the
 * time of large patterns. */
static void want_large_pages(void *memory, size_t bytes)
{
    uintptr_t page, begin, end;

    if (bytes < LARGE)
        return;
    page = (uintptr_t)sysconf(_SC_PAGESIZE);
    begin = (uintptr_t)memory & ~(page - 1);
    end = want_heap(begin, (uintptr_t)memory + bytes);
    if (end > begin)
        (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

nw_status nw_alloc_raw(size_t count, size_t size, void *out)
{
    void *memory = NULL;
    size_t bytes;

    if (!__builtin_mul_overflow(count, size, &bytes))
        memory = malloc(bytes ? bytes : 1);
    memcpy(out, &memory, sizeof memory);
    if (!memory)
        return array_no_memory(count, size);
    want_large_pages(memory, bytes);
    return NW_OK;
}

/* Clears a large array itself, because large pages must be requested before the
 * first access. A small array comes from malloc, which needs no lock. */
nw_status nw_alloc(size_t count, size_t size, void *out)
{
    void *memory = NULL;
    size_t bytes;
    nw_status status;

    memcpy(out, &memory, sizeof memory);
    if (__builtin_mul_overflow(count, size, &bytes))
        return array_no_memory(count, size);
    if (!count)
        bytes = size;
    if (bytes >= LARGE || bytes <= SMALL) {
        status = nw_alloc_raw(bytes, 1, &memory);
        if (status)
            return status;
        memset(memory, 0, bytes);
    } else {
        memory = calloc(1, bytes);
        if (!memory)
            return array_no_memory(count, size);
    }
    memcpy(out, &memory, sizeof memory);
    return NW_OK;
}

nw_status nw_alloc_all(const struct nw_array *array, size_t count)
{
    static void *const none = NULL;
    nw_status status = NW_OK;

    for (size_t i = 0; i < count; i++)
        memcpy(array[i].out, &none, sizeof none);
    for (size_t i = 0; !status && i < count; i++)
        status = (array[i].raw ? nw_alloc_raw : nw_alloc)(
            array[i].count, array[i].size, array[i].out);
    return status;
}

void nw_free_all(void *const *memory, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(memory[i]);
}

nw_status nw_grow(void *array, size_t *capacity, size_t need, size_t size)
{
    void *memory;
    size_t wanted = *capacity ? *capacity : 16;

    if (need <= *capacity)
        return NW_OK;
    while (wanted < need)
        wanted = wanted > SIZE_MAX / 2 ? need : wanted * 2;
    if (wanted > SIZE_MAX / size)
        return array_no_memory(wanted, size);
    memcpy(&memory, array, sizeof memory);
    memory = realloc(memory, wanted * size);
    if (!memory)
        return array_no_memory(wanted, size);
    want_large_pages(memory, wanted * size);
    memcpy(array, &memory, sizeof memory);
    *capacity = wanted;
    return NW_OK;
}

void nw_list_by_group(const int32_t *group, int32_t count, int32_t groups,
                      int32_t *first, int32_t *member)
{
    memset(first, 0, ((size_t)groups + 2) * sizeof *first);
    for (int32_t i = 0; i < count; i++)
        if (group[i] >= 0)
            first[group[i] + 2]++;
    for (int32_t g = 0; g < groups; g++)
        first[g + 2] += first[g + 1];
    for (int32_t i = 0; i < count; i++)
        if (group[i] >= 0)
            member[first[group[i] + 1]++] = i;
}

nw_status nw_strdup(const char *text, char **out)
{
    *out = strdup(text);
    return *out ? NW_OK : array_no_memory(strlen(text), 1);
}

int nw_compare_int32(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return (x > y) - (x < y);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocation in one place, so that every size is checked the same way. */
#include "base/array.h"
#include "base/status.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static nw_status no_memory(size_t count, size_t size)
{
    return nw_fail(NW_ENOMEM, "out of memory for %zu x %zu bytes", count, size);
}

nw_status nw_alloc(size_t count, size_t size, void *out)
{
    void *memory = calloc(count ? count : 1, size);

    if (!memory)
        return no_memory(count, size);
    memcpy(out, &memory, sizeof memory);
    return NW_OK;
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
        return no_memory(wanted, size);
    memcpy(&memory, array, sizeof memory);
    memory = realloc(memory, wanted * size);
    if (!memory)
        return no_memory(wanted, size);
    memcpy(array, &memory, sizeof memory);
    *capacity = wanted;
    return NW_OK;
}

nw_status nw_strdup(const char *text, char **out)
{
    char *copy = strdup(text);

    if (!copy)
        return no_memory(strlen(text), 1);
    *out = copy;
    return NW_OK;
}

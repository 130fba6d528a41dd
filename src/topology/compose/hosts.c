/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds hosts by short or long name, in a list that is sorted by the part
 * before the first dot, then by the rest. */
#include "base/array.h"
#include "base/hostlist.h"
#include "topology/compose/compose.h"

#include <stdlib.h>
#include <string.h>

/* Compares `name` with the first `length` bytes of `key`, in the order of the
 * sorted list. */
static int hosts_compare(const char *name, const char *key, size_t length)
{
    size_t x = strcspn(name, "."), y = strcspn(key, ".");
    int order;

    y = y < length ? y : length;
    order = strncmp(name, key, x < y ? x : y);
    if (order || x != y)
        return order ? order : (x > y) - (x < y);
    order = strncmp(name + x, key + y, length - y);
    return order ? order : name[length] != '\0';
}

static int compare_places(const void *a, const void *b, void *names)
{
    const char *const *name = names;
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    int order = hosts_compare(name[x], name[y], strlen(name[y]));

    return order ? order : x - y;
}

nw_status nw_host_index_init(struct nw_host_index *hosts, char **name,
                             size_t count)
{
    nw_status status = nw_alloc(count, sizeof *hosts->order, &hosts->order);

    if (status)
        return status;
    hosts->name = name;
    hosts->count = count;
    for (size_t i = 0; i < count; i++)
        hosts->order[i] = (int32_t)i;
    if (count)
        qsort_r(hosts->order, count, sizeof *hosts->order, compare_places,
                name);
    return NW_OK;
}

void nw_host_index_fini(struct nw_host_index *hosts)
{
    free(hosts->order);
    *hosts = (struct nw_host_index){0};
}

/* Returns the first index into hosts->order whose name is equal to, or sorts
 * after, the first `length` bytes of the key. */
static size_t hosts_lower_bound(const struct nw_host_index *hosts,
                                const char *key, size_t length)
{
    size_t low = 0, high = hosts->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (hosts_compare(hosts->name[hosts->order[middle]], key, length) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the host hosts->order[at] if its name equals the first `length` bytes
 * of `host`. Returns -1 otherwise, and if `at` is past the last host. */
static int32_t hosts_exactly(const struct nw_host_index *hosts, size_t at,
                             const char *host, size_t length)
{
    const char *name = at < hosts->count ? hosts->name[hosts->order[at]] : NULL;

    return name && strlen(name) == length && !strncmp(name, host, length)
               ? hosts->order[at]
               : -1;
}

/* Returns the host with this name. If no host has exactly this name, a long
 * name (with a dot) finds its short form, and a short name finds a long name
 * that begins with the short name. Returns NW_HOST_SEVERAL if several long
 * names fit, NW_HOST_NONE if no name fits. */
int32_t nw_host_index_find(const struct nw_host_index *hosts, const char *host)
{
    size_t whole = strlen(host), part = strcspn(host, ".");
    size_t at = hosts_lower_bound(hosts, host, whole);
    int32_t found = hosts_exactly(hosts, at, host, whole);

    if (found >= 0)
        return found;
    if (part < whole)
        return hosts_exactly(hosts, hosts_lower_bound(hosts, host, part), host,
                             part);
    for (; at < hosts->count; at++) {
        int32_t i = hosts->order[at];

        if (!nw_host_is_same(hosts->name[i], host))
            break;
        if (found >= 0 && strcmp(hosts->name[i], hosts->name[found]))
            return NW_HOST_SEVERAL;
        found = found < 0 ? i : found;
    }
    return found < 0 ? NW_HOST_NONE : found;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the logical numbers of cores, as hwloc counts them, from the kernel's
 * files. In hwloc's tree, children are sorted by their lowest CPU. So the
 * position of a CPU in the tree follows from the lowest CPUs of its package,
 * die, NUMA node, caches and core. About one file is read for each of these
 * groups, not one for each CPU. */
#include "launch/local_cpus.h"

#include "base/array.h"
#include "base/cpus.h"
#include "base/status.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEVELS 6
#define LIST_BYTES (6 * NW_CPU_LIMIT) /* numbers of five digits, and commas */

/* The groups of one kind, such as all packages or all level-3 caches. */
struct level {
    int32_t *low;   /* [count] lowest CPU of each CPU's group; -1: none */
    int32_t groups; /* number of groups; 0: the machine has no such groups */
};

struct scan {
    const char *root;
    const unsigned long *allowed;
    int32_t count; /* highest allowed CPU + 1 */
    struct level level[LEVELS];
};

static bool local_cpus_is_allowed(const struct scan *scan, int32_t cpu)
{
    return nw_cpus_has(scan->allowed, NW_CPU_WORDS, cpu);
}

/* Reads the first line of a small file, without its newline. Returns false if
 * the file is missing, empty or unreadable. */
static bool local_cpus_slurp(const char *path, char *out, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    ssize_t got;

    if (file < 0)
        return false;
    /* the kernel returns at most one page per read */
    while ((got = read(file, out + length, size - 1 - length)) > 0)
        length += (size_t)got;
    close(file);
    out[length] = '\0';
    out[strcspn(out, "\n")] = '\0';
    return length && !got;
}

/* Reads the next range of a list such as "0-3,8" and moves *at behind it. Cuts
 * the range at NW_CPU_LIMIT. Returns false at the end of the list, or if the
 * range is invalid or begins beyond the limit. */
static bool next_range(const char **at, int32_t *from, int32_t *to)
{
    char *end;
    long first = strtol(*at, &end, 10), last = first;

    if (end == *at || first < 0)
        return false;
    if (*end == '-')
        last = strtol(end + 1, &end, 10);
    *at = end + (*end == ',');
    *from = (int32_t)first;
    *to = (int32_t)(last < NW_CPU_LIMIT ? last : NW_CPU_LIMIT - 1);
    return first <= last && first < NW_CPU_LIMIT;
}

/* Adds a group: sets `low` of each CPU in the list to the list's lowest CPU,
 * unless the CPU already is in a group. */
static void local_cpus_add_group(const struct scan *scan, struct level *level,
                                 const char *list)
{
    int32_t from, to, low = -1;

    while (next_range(&list, &from, &to)) {
        low = low < 0 ? from : low;
        for (int32_t c = from; c <= to && c < scan->count; c++)
            level->low[c] = level->low[c] < 0 ? low : level->low[c];
    }
    level->groups++;
}

/* Reads the groups of a level. The file `file` in a CPU's directory lists the
 * CPUs of its group; it is read for each allowed CPU that is in no group yet.
 * Stops at the first missing file. */
static void local_cpus_read_level(const struct scan *scan, struct level *level,
                                  const char *file)
{
    char path[200], list[LIST_BYTES];

    for (int32_t c = 0; c < scan->count; c++) {
        if (!local_cpus_is_allowed(scan, c) || level->low[c] >= 0)
            continue;
        snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%d/%s",
                 scan->root, c, file);
        if (!local_cpus_slurp(path, list, sizeof list))
            return;
        local_cpus_add_group(scan, level, list);
        if (level->low[c] < 0) /* the CPU is missing in its own list */
            level->low[c] = c;
    }
}

static void read_numa(const struct scan *scan, struct level *level)
{
    char path[200], online[LIST_BYTES], list[LIST_BYTES];
    const char *at = online;
    int32_t from, to;

    snprintf(path, sizeof path, "%s/devices/system/node/online", scan->root);
    if (!local_cpus_slurp(path, online, sizeof online))
        return;
    while (next_range(&at, &from, &to))
        for (int32_t n = from; n <= to; n++) {
            snprintf(path, sizeof path, "%s/devices/system/node/node%d/cpulist",
                     scan->root, n);
            if (local_cpus_slurp(path, list, sizeof list))
                local_cpus_add_group(scan, level, list);
        }
}

/* Reads the cores. If no core has a second hardware thread, each CPU is a
 * core. */
static void local_cpus_read_cores(const struct scan *scan, struct level *level)
{
    char path[200], active[16];

    snprintf(path, sizeof path, "%s/devices/system/cpu/smt/active", scan->root);
    if (!local_cpus_slurp(path, active, sizeof active) || strcmp(active, "0")) {
        local_cpus_read_level(scan, level, "topology/core_cpus_list");
        if (!level->groups) /* for kernels before Linux 5.3 */
            local_cpus_read_level(scan, level, "topology/thread_siblings_list");
    }
    for (int32_t c = 0; c < scan->count; c++)
        if (level->low[c] < 0)
            level->low[c] = c;
    level->groups = level->groups ? level->groups : scan->count;
}

/* Returns true if cores share a second-level cache. Reads only the file of the
 * first allowed CPU, since nearly all machines have the same sharing
 * everywhere. */
static bool shares_l2(const struct scan *scan, const struct level *cores)
{
    char path[200], list[LIST_BYTES];
    const char *at = list;
    int32_t from, to;

    for (int32_t c = 0; c < scan->count; c++) {
        if (!local_cpus_is_allowed(scan, c))
            continue;
        snprintf(path, sizeof path,
                 "%s/devices/system/cpu/cpu%d/cache/index2/shared_cpu_list",
                 scan->root, c);
        if (!local_cpus_slurp(path, list, sizeof list))
            return false;
        while (next_range(&at, &from, &to))
            for (; from <= to && from < scan->count; from++)
                if (cores->low[from] != cores->low[c])
                    return true;
        return false;
    }
    return false;
}

static void local_cpus_read_all(struct scan *scan)
{
    struct level *level = scan->level;

    local_cpus_read_level(scan, &level[0], "topology/package_cpus_list");
    if (!level[0].groups)
        local_cpus_read_level(scan, &level[0], "topology/core_siblings_list");
    local_cpus_read_level(scan, &level[1], "topology/die_cpus_list");
    read_numa(scan, &level[2]);
    local_cpus_read_level(scan, &level[3], "cache/index3/shared_cpu_list");
    local_cpus_read_cores(scan, &level[5]);
    if (shares_l2(scan, &level[5]))
        local_cpus_read_level(scan, &level[4], "cache/index2/shared_cpu_list");
}

/* Compares levels by their number of groups, for sorting: a level with fewer
 * groups has larger groups, and comes first. */
static int local_cpus_by_size(const void *a, const void *b)
{
    int32_t x = ((const struct level *)a)->groups,
            y = ((const struct level *)b)->groups;

    return (x > y) - (x < y);
}

static int by_place(const void *a, const void *b, void *data)
{
    const struct scan *scan = data;
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    for (int l = 0; l < LEVELS; l++) {
        const int32_t *low = scan->level[l].low;

        if (scan->level[l].groups && low[x] != low[y])
            return (low[x] > low[y]) - (low[x] < low[y]);
    }
    return (x > y) - (x < y);
}

static void local_cpus_order(struct scan *scan, const int32_t *core,
                             struct nw_local_cpus *here)
{
    for (int32_t c = 0; c < scan->count; c++)
        if (local_cpus_is_allowed(scan, c))
            here->cpu[here->cpu_count++] = c;
    qsort(scan->level, LEVELS - 1, sizeof *scan->level, local_cpus_by_size);
    qsort_r(here->cpu, (size_t)here->cpu_count, sizeof *here->cpu, by_place,
            scan);
    for (int32_t i = 0; i < here->cpu_count; i++)
        if (!i || core[here->cpu[i]] != core[here->cpu[i - 1]])
            here->first[here->core_count++] = i;
    here->first[here->core_count] = here->cpu_count;
}

static nw_status local_cpus_prepare(struct scan *scan,
                                    struct nw_local_cpus *here, int32_t **lows)
{
    size_t count = (size_t)scan->count;
    nw_status status = nw_alloc(LEVELS * count, sizeof **lows, lows);

    if (!status)
        status = nw_alloc(count, sizeof *here->cpu, &here->cpu);
    if (!status)
        status = nw_alloc(count + 1, sizeof *here->first, &here->first);
    if (status)
        return status;
    memset(*lows, 0xff, LEVELS * count * sizeof **lows);
    for (int l = 0; l < LEVELS; l++)
        scan->level[l].low = *lows + (size_t)l * count;
    return NW_OK;
}

nw_status nw_local_cpus_read(const char *root, const unsigned long *allowed,
                             struct nw_local_cpus *out)
{
    struct scan scan = {.root = root, .allowed = allowed};
    struct nw_local_cpus here = {0};
    int32_t *lows = NULL;
    nw_status status;

    for (int32_t c = 0; c < NW_CPU_LIMIT; c++)
        if (local_cpus_is_allowed(&scan, c))
            scan.count = c + 1;
    status = local_cpus_prepare(&scan, &here, &lows);
    if (!status) {
        local_cpus_read_all(&scan);
        if (scan.level[0].groups)
            local_cpus_order(&scan, scan.level[LEVELS - 1].low, &here);
        else
            status = nw_fail(NW_EUNSUPPORTED,
                             "%s does not list the cores of "
                             "this machine",
                             root);
    }
    free(lows);
    if (status)
        nw_local_cpus_fini(&here);
    else
        *out = here;
    return status;
}

void nw_local_cpus_fini(struct nw_local_cpus *here)
{
    free(here->cpu);
    free(here->first);
}

static bool local_cpus_meets(const char *list, const unsigned long *cpus)
{
    int32_t from, to;

    while (next_range(&list, &from, &to))
        for (int32_t c = from; c <= to; c++)
            if (nw_cpus_has(cpus, NW_CPU_WORDS, c))
                return true;
    return false;
}

int32_t nw_local_cpus_numa(const char *root, const unsigned long *cpus,
                           struct nw_numa_set *out, int32_t *count)
{
    char path[200], nodes[LIST_BYTES], list[LIST_BYTES];
    const char *at = nodes;
    int32_t from, to, found = 0;

    *out = (struct nw_numa_set){{0}};
    *count = 0;
    snprintf(path, sizeof path, "%s/devices/system/node/has_memory", root);
    if (!local_cpus_slurp(path, nodes, sizeof nodes))
        return 0;
    while (next_range(&at, &from, &to))
        for (int32_t n = from; n <= to && n < NW_NUMA_LIMIT; n++) {
            size_t width = 8 * sizeof *out->bits;

            ++*count;
            snprintf(path, sizeof path, "%s/devices/system/node/node%d/cpulist",
                     root, n);
            if (!local_cpus_slurp(path, list, sizeof list) ||
                !local_cpus_meets(list, cpus))
                continue;
            out->bits[(size_t)n / width] |= 1ul << (size_t)n % width;
            found++;
        }
    return found;
}

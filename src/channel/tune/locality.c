/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the distance between a GPU and an adapter from the folders of PCI
 * devices in sysfs. The folder of a device lies inside the folder of its
 * bridge. */
#include "channel/tune/thresholds.h"

#include <ctype.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool locality_find_device(const char *system, const char *pci,
                                 char path[])
{
    char name[PATH_MAX], low[32];
    size_t i = 0;

    for (; pci[i] && i < sizeof low - 1; i++)
        low[i] = (char)tolower((unsigned char)pci[i]);
    low[i] = '\0';
    if (!low[0] || strchr(low, '/') ||
        snprintf(name, sizeof name, "%s/bus/pci/devices/%s", system, low) >=
            (int)sizeof name)
        return false;
    return realpath(name, path) != NULL;
}

static int locality_read_number(const char *path)
{
    FILE *file = fopen(path, "re");
    int number = -1;

    if (file) {
        if (fscanf(file, "%d", &number) != 1)
            number = -1;
        (void)fclose(file);
    }
    return number;
}

/* Returns the NUMA node of a device, or -1 if unknown. */
static int node_of_device(const char *path)
{
    char name[PATH_MAX + 16];

    snprintf(name, sizeof name, "%s/numa_node", path);
    return locality_read_number(name);
}

static int node_of_core(const char *system)
{
    char name[PATH_MAX];
    int cpu = sched_getcpu();

    for (int node = 0; cpu >= 0 && node < 1024; node++) {
        snprintf(name, sizeof name, "%s/devices/system/node/node%d", system,
                 node);
        if (!realpath(name, (char[PATH_MAX]){0}))
            return -1;
        snprintf(name, sizeof name,
                 "%s/devices/system/node/node%d/cpu%d/topology/core_id", system,
                 node, cpu);
        if (locality_read_number(name) >= 0)
            return node;
    }
    return -1;
}

/* Counts the folders below the PCI root that contain both devices `a` and `b`
 * (paths). Two devices below one PCIe switch share two such folders: the
 * switch's upstream port and a bridge. */
static int shared_bridges(const char *a, const char *b)
{
    const char *at = strstr(a, "/pci");
    int shared = 0;
    size_t i = at ? (size_t)(at - a) + 1 : 0;

    if (!at || strncmp(a, b, i))
        return 0;
    for (; a[i] && a[i] == b[i]; i++)
        if (a[i] == '/')
            shared++;
    return shared - 1;
}

enum nw_locality nw_locality_find(const char *system, const char *gpu,
                                  const char *adapter)
{
    char gpu_path[PATH_MAX], adapter_path[PATH_MAX];
    bool has_adapter = locality_find_device(system, adapter, adapter_path);
    int nodes[3] = {-1, -1, node_of_core(system)}, first = -1;

    if (!locality_find_device(system, gpu, gpu_path))
        return NW_LOCAL_SOCKET;
    nodes[0] = node_of_device(gpu_path);
    if (has_adapter)
        nodes[1] = node_of_device(adapter_path);
    for (int i = 0; i < 3; i++) {
        if (nodes[i] >= 0 && first >= 0 && nodes[i] != first)
            return NW_LOCAL_FAR;
        if (first < 0)
            first = nodes[i];
    }
    return has_adapter && shared_bridges(gpu_path, adapter_path) >= 2
               ? NW_LOCAL_SWITCH
               : NW_LOCAL_SOCKET;
}

/* Sets the adapter's rate of reading GPU memory below a shared switch. Other
 * localities keep the default rate, which is lower. */
void nw_costs_of_locality(struct nw_costs *costs, enum nw_locality locality)
{
    if (locality == NW_LOCAL_SWITCH)
        costs->rate[NW_COST_READ] = 2.2e9;
}

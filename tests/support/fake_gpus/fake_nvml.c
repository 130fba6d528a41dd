/* SPDX-License-Identifier: BSD-3-Clause */
/* A test double of NVML, libnvidia-ml.so.1. The file that FAKE_NVML names
 * describes the GPUs and links. It consists of lines "gpu ADDRESS UUID
 * [CAPABILITY]" (default 7.0), "near A B LEVEL" and "link A gpu|npu|switch
 * ADDRESS COUNT VERSION". VERSION is written as users know it, such as 3.1. The
 * signatures are those of the real library, which returns a number of its own
 * for a version. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))
#define MAX 64

enum { SUCCESS = 0, INVALID = 2, NOT_FOUND = 6 };

struct pci_info {
    char legacy[16];
    unsigned domain, bus, device, pci_id, subsystem_id;
    char id[32];
};

static struct {
    char pci[32], uuid[64];
    int major, minor;
    int links;
    struct {
        char pci[32];
        unsigned type, version;
    } link[18];
} gpus[MAX];
/* [a][b] the level of the common ancestor of two GPUs; -1: unknown */
static int near_level[MAX][MAX], count;

/* The value of nvmlNvlinkVersion_t for a version; 0 if no such version
 * exists. */
static unsigned version_number(const char *version)
{
    static const char *const versions[] = {"",    "1.0", "2.0", "2.2",
                                           "3.0", "3.1", "4.0", "5.0"};
    unsigned i = sizeof versions / sizeof *versions - 1;

    while (i && strcmp(version, versions[i]))
        i--;
    return i;
}

/* Reads a line "link ..." of the file. */
static void read_link(const char *line)
{
    static const char *const types[] = {"gpu", "npu", "switch"};
    char type[16], pci[32], version[8];
    int gpu, many;

    if (sscanf(line, "link %d %15s %31s %d %7s", &gpu, type, pci, &many,
               version) != 5)
        return;
    for (int i = 0; i < many && gpus[gpu].links < 18; i++) {
        int l = gpus[gpu].links++;

        snprintf(gpus[gpu].link[l].pci, 32, "%s", pci);
        gpus[gpu].link[l].version = version_number(version);
        for (unsigned t = 0; t < 3; t++)
            if (!strcmp(type, types[t]))
                gpus[gpu].link[l].type = t;
    }
}

/* Reads a line "gpu ..." of the file. */
static bool read_gpu(const char *line, int gpu)
{
    gpus[gpu].major = 7;
    return sscanf(line, "gpu %31s %63s %d.%d", gpus[gpu].pci, gpus[gpu].uuid,
                  &gpus[gpu].major, &gpus[gpu].minor) >= 2;
}

API int nvmlInit_v2(void)
{
    const char *path = getenv("FAKE_NVML");
    FILE *file = path ? fopen(path, "r") : NULL;
    char line[256];
    int a, b, level;

    count = 0;
    memset(gpus, 0, sizeof gpus);
    memset(near_level, -1, sizeof near_level);
    while (file && fgets(line, sizeof line, file)) {
        if (count < MAX)
            count += read_gpu(line, count);
        if (sscanf(line, "near %d %d %d", &a, &b, &level) == 3)
            near_level[a][b] = near_level[b][a] = level;
        read_link(line);
    }
    if (file)
        fclose(file);
    return file ? SUCCESS : INVALID;
}

API int nvmlShutdown(void)
{
    return SUCCESS;
}

API int nvmlDeviceGetCount_v2(unsigned *out)
{
    *out = (unsigned)count;
    return SUCCESS;
}

API int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    *device = &gpus[index];
    return index < (unsigned)count ? SUCCESS : NOT_FOUND;
}

static long number_of(const void *device)
{
    return (const char *)device - (const char *)gpus;
}

static int index_of(const void *device)
{
    return (int)(number_of(device) / (long)sizeof *gpus);
}

API int nvmlDeviceGetName(void *device, char *out, unsigned size)
{
    snprintf(out, size, "Double %d", index_of(device));
    return SUCCESS;
}

API int nvmlDeviceGetUUID(void *device, char *out, unsigned size)
{
    snprintf(out, size, "%s", gpus[index_of(device)].uuid);
    return SUCCESS;
}

static int parse_pci(const char *text, struct pci_info *out)
{
    memset(out, 0, sizeof *out);
    snprintf(out->id, sizeof out->id, "%s", text);
    return sscanf(text, "%x:%x:%x", &out->domain, &out->bus, &out->device) == 3
               ? SUCCESS
               : INVALID;
}

API int nvmlDeviceGetPciInfo_v3(void *device, struct pci_info *out)
{
    return parse_pci(gpus[index_of(device)].pci, out);
}

API int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor)
{
    *major = gpus[index_of(device)].major;
    *minor = gpus[index_of(device)].minor;
    return SUCCESS;
}

API int nvmlDeviceGetTopologyCommonAncestor(void *a, void *b, unsigned *level)
{
    int known = near_level[index_of(a)][index_of(b)];

    *level = known < 0 ? 0 : (unsigned)known;
    return known < 0 ? NOT_FOUND : SUCCESS;
}

API int nvmlDeviceGetNvLinkState(void *device, unsigned link, unsigned *active)
{
    *active = (int)link < gpus[index_of(device)].links;
    return SUCCESS;
}

API int nvmlDeviceGetNvLinkVersion(void *device, unsigned link,
                                   unsigned *version)
{
    *version = gpus[index_of(device)].link[link].version;
    return SUCCESS;
}

API int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link,
                                            struct pci_info *out)
{
    return parse_pci(gpus[index_of(device)].link[link].pci, out);
}

API int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link,
                                            unsigned *type)
{
    *type = gpus[index_of(device)].link[link].type;
    return SUCCESS;
}

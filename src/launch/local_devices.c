/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the NICs of this machine in the kernel's files, in the order of their
 * PCI addresses, as a mapping counts them. Also counts the GPUs. */
#include "launch/local_cpus.h"

#include "base/status.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_CARDS 64

struct card {
    char pci[16]; /* PCI address such as 0000:3b:00.0 */
    char name[64];
};

/* Writes the last PCI address in the target of a symbolic link in /sys/class to
 * `out`. Returns false if the target has no PCI address. */
static bool find_pci(const char *link, char out[16])
{
    char path[PATH_MAX], *word, *rest;
    ssize_t length = readlink(link, path, sizeof path - 1);
    bool found = false;

    if (length < 0)
        return false;
    path[length] = '\0';
    for (word = strtok_r(path, "/", &rest); word;
         word = strtok_r(NULL, "/", &rest))
        if (strlen(word) == 12 && word[4] == ':' && word[7] == ':' &&
            word[10] == '.') {
            memcpy(out, word, 13);
            found = true;
        }
    return found;
}

/* Returns true for a virtual function, which belongs to a NIC that is listed
 * itself. */
static bool local_devices_is_virtual(const char *link)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof path, "%s/device/physfn", link) < PATH_MAX &&
           !access(path, F_OK);
}

static int by_pci(const void *a, const void *b)
{
    const struct card *x = a, *y = b;
    int order = strcmp(x->pci, y->pci);

    return order ? order : strcmp(x->name, y->name);
}

/* Keeps the first entry of each PCI device in the sorted list, since a NIC may
 * be listed under two names. Returns the new count. */
static size_t drop_doubles(struct card *cards, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (!i || strcmp(cards[i].pci, cards[kept - 1].pci))
            cards[kept++] = cards[i];
    return kept;
}

static size_t list_class(const char *root, const char *class,
                         struct card cards[MAX_CARDS])
{
    char path[PATH_MAX];
    struct dirent *entry;
    size_t count = 0;
    DIR *folder;

    snprintf(path, sizeof path, "%s/class/%s", root, class);
    folder = opendir(path);
    while (folder && count < MAX_CARDS && (entry = readdir(folder))) {
        struct card *card = &cards[count];

        if (entry->d_name[0] == '.' ||
            strlen(entry->d_name) >= sizeof card->name)
            continue;
        snprintf(path, sizeof path, "%s/class/%s/%s", root, class,
                 entry->d_name);
        if (!find_pci(path, card->pci) || local_devices_is_virtual(path))
            continue;
        strcpy(card->name, entry->d_name);
        count++;
    }
    if (folder)
        closedir(folder);
    qsort(cards, count, sizeof *cards, by_pci);
    return drop_doubles(cards, count);
}

nw_status nw_local_cpus_nic(const char *root, int32_t index, char *out,
                            size_t size)
{
    struct card cards[MAX_CARDS];
    size_t count = list_class(root, "infiniband", cards);

    if (!count)
        count = list_class(root, "net", cards);
    if (index < 0 || (size_t)index >= count)
        return nw_fail(NW_ENODEV,
                       "network card %d is not here: this machine has %zu",
                       index, count);
    snprintf(out, size, "%s", cards[index].name);
    return NW_OK;
}

/* Returns the number of entries of the folder `root` + `folder` whose names
 * begin with `begin`. Names that begin with '.' do not count, even if `begin`
 * is empty. */
static int32_t count_entries(const char *root, const char *folder,
                             const char *begin)
{
    char path[PATH_MAX];
    struct dirent *entry;
    int32_t count = 0;
    DIR *open;

    snprintf(path, sizeof path, "%s%s", root, folder);
    open = opendir(path);
    while (open && (entry = readdir(open)))
        count += entry->d_name[0] != '.' &&
                 !strncmp(entry->d_name, begin, strlen(begin));
    if (open)
        closedir(open);
    return count;
}

/* Returns the number of AMD's GPUs. The driver also lists processors, which
 * have no SIMD units. */
static int32_t count_amd(const char *root)
{
    char path[PATH_MAX], line[200];
    int32_t count = 0, nodes;

    nodes = count_entries(root, "/sys/class/kfd/kfd/topology/nodes", "");
    for (int32_t n = 0; n < nodes; n++) {
        FILE *file;
        long units;

        snprintf(path, sizeof path,
                 "%s/sys/class/kfd/kfd/topology/nodes/%d/properties", root, n);
        file = fopen(path, "re");
        while (file && fgets(line, sizeof line, file))
            if (sscanf(line, "simd_count %ld", &units) == 1)
                count += units > 0;
        if (file)
            fclose(file);
    }
    return count;
}

static int32_t count_intel(const char *root)
{
    char path[PATH_MAX], vendor[16];
    int32_t count = 0;

    for (int n = 128; n < 192; n++) {
        FILE *file;

        snprintf(path, sizeof path, "%s/sys/class/drm/renderD%d/device/vendor",
                 root, n);
        file = fopen(path, "re");
        count += file && fgets(vendor, sizeof vendor, file) &&
                 !strncmp(vendor, "0x8086", 6);
        if (file)
            fclose(file);
    }
    return count;
}

int32_t nw_local_cpus_gpu_count(const char *root)
{
    int32_t count = count_entries(root, "/proc/driver/nvidia/gpus", "0");

    if (!count)
        count = count_amd(root);
    return count ? count : count_intel(root);
}

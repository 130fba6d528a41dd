/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks how GPU memory can be accessed without the driver. The CPU does it as
 * a channel does it on this machine. NICs do it through their libraries, which
 * register the memory as a dma-buf or with NVIDIA's peer-memory module. */
#include "cli/doctor.h"

#include <nodewise/channel.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum nw_finding nw_doctor_stores(const char *what, struct nw_text *detail)
{
    const char *name = nw_channel_mapping(NULL);

    (void)what;
    if (!strcmp(name, "none"))
        return NW_MISSING;
    nw_text_add(detail, name);
    return NW_FOUND;
}

static bool is_loaded(const char *module)
{
    char path[300];

    snprintf(path, sizeof path, "/sys/module/%s", module);
    return !access(path, F_OK);
}

/* Finds the first of the kernel modules "a b c" that is loaded. */
enum nw_finding nw_doctor_module(const char *names, struct nw_text *detail)
{
    return nw_doctor_tell_first(names, is_loaded, detail);
}

/* Returns true if a line of a file contains `word`; false if the file is
 * missing. */
static bool doctor_reach_says(const char *path, const char *word)
{
    FILE *file = fopen(path, "re");
    char line[512];
    bool found = false;

    while (file && !found && fgets(line, sizeof line, file))
        found = strstr(line, word) != NULL;
    if (file)
        (void)fclose(file);
    return found;
}

/* Checks whether NICs can register GPU memory as a dma-buf. This needs the RDMA
 * core of kernel 5.12 or later, and NVIDIA's open kernel modules. */
enum nw_finding nw_doctor_dmabuf(const char *what, struct nw_text *detail)
{
    bool core = doctor_reach_says("/proc/kallsyms", " ib_umem_dmabuf_get");
    bool open =
        doctor_reach_says("/proc/driver/nvidia/version", "Open Kernel Module");

    (void)what;
    if (core && open) {
        nw_text_add(detail, "supported by the kernel's RDMA core and by "
                            "NVIDIA's open modules");
        return NW_FOUND;
    }
    nw_text_format(detail, "%s, %s",
                   core ? "supported by the kernel's RDMA core"
                        : "not supported by the kernel's RDMA core",
                   open ? "NVIDIA's open kernel modules are loaded"
                        : "NVIDIA's open kernel modules are not loaded");
    return NW_MISSING;
}

enum nw_finding nw_doctor_tell_first(const char *words,
                                     bool (*is)(const char *word),
                                     struct nw_text *detail)
{
    char list[PATH_MAX], *word, *rest;

    snprintf(list, sizeof list, "%s", words);
    for (word = strtok_r(list, " ", &rest); word && !is(word);
         word = strtok_r(NULL, " ", &rest))
        ;
    if (!word)
        return NW_MISSING;
    nw_text_add(detail, word);
    return NW_FOUND;
}

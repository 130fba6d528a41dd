/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the libraries to preload: beside the running program (as in the build
 * tree), then in the library folder next to the program's folder, then in the
 * library folder of the configuration. */
#include <nodewise/profile.h>

#include "base/status.h"
#include "base/text.h"
#include "config.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Removes the last `levels` names from the path. */
static void library_cut(char *path, int levels)
{
    while (levels--) {
        char *slash = strrchr(path, '/');

        if (slash)
            *slash = '\0';
    }
}

static nw_status try_path(const char *folder, const char *between,
                          const char *flavour, char **path)
{
    struct nw_text text = {0};
    /* NCCL prescribes the library's name */
    bool is_nccl = !strcmp(flavour, "nccl");
    const char *first = is_nccl ? "nccl-profiler-nodewise" : "nodewise-";
    const char *last = is_nccl ? "" : flavour;
    nw_status status;
    char *found;

    nw_text_format(&text, "%s%s/lib%s%s.so", folder, between, first, last);
    status = nw_text_take(&text, &found);
    if (status)
        return status;
    if (access(found, R_OK)) {
        free(found);
        return nw_fail(
            NW_ENODEV,
            "lib%s%s.so was not found beside the program or in " NW_LIBDIR,
            first, last);
    }
    *path = found;
    return NW_OK;
}

nw_status nw_profile_library(const char *flavour, char **path)
{
    char folder[PATH_MAX] = "";
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    nw_status status = NW_ENODEV;

    if (length > 0) {
        folder[length] = '\0';
        library_cut(folder, 1);
        status = try_path(folder, "", flavour, path);
        if (status == NW_ENODEV) {
            library_cut(folder, 1);
            status = try_path(folder, "/" NW_LIBDIR_NAME, flavour, path);
        }
    }
    if (status == NW_ENODEV)
        status = try_path(NW_LIBDIR, "", flavour, path);
    /* NCCL's plug-in is not preloaded */
    if (status || !strcmp(flavour, "nccl") || !strpbrk(*path, " :"))
        return status;
    status = nw_fail(NW_EUNSUPPORTED,
                     "%s: LD_PRELOAD cannot name a path with a blank or a "
                     "colon; install Nodewise in another folder",
                     *path);
    free(*path);
    *path = NULL;
    return status;
}

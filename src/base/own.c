/* SPDX-License-Identifier: BSD-3-Clause */
/* A build folder, an installed tree and one that was moved keep what belongs
 * together at the same places: all are looked for from the running program. */
#include "base/own.h"
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_here(const char *folder, const char *below, const char *name,
                    int mode, char path[PATH_MAX])
{
    int size = snprintf(path, PATH_MAX, "%s%s/%s", folder, below, name);

    return size > 0 && size < PATH_MAX && !access(path, mode);
}

bool nw_own_find(const char *beside, const char *name, int mode,
                 char path[PATH_MAX])
{
    char folder[PATH_MAX] = "", *slash;
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);

    folder[length > 0 ? length : 0] = '\0';
    slash = strrchr(folder, '/');
    if (slash) {
        *slash = '\0';
        if (is_here(folder, "", beside, mode, path))
            return true;
        slash = strrchr(folder, '/');
    }
    if (slash) {
        *slash = '\0';
        if (is_here(folder, "/" NW_LIBEXECDIR_NAME, name, mode, path) ||
            is_here(folder, "/" NW_LIBDIR_NAME, name, mode, path))
            return true;
    }
    return is_here(NW_LIBEXECDIR, "", name, mode, path) ||
           is_here(NW_LIBDIR, "", name, mode, path);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A build folder, an installed tree and one that was moved keep what belongs
 * together at the same places: all are looked for from the running program. */
#include "base/own.h"
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

static bool is_program(const char *path)
{
    struct stat info;

    return !stat(path, &info) && S_ISREG(info.st_mode) && !access(path, X_OK);
}

bool nw_own_search(const char *name, char path[PATH_MAX])
{
    const char *at = getenv("PATH");

    if (strchr(name, '/'))
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX &&
               is_program(path);
    while (at && *at) {
        size_t length = strcspn(at, ":");
        int size = snprintf(path, PATH_MAX, "%.*s/%s", (int)length, at, name);

        if (length && size < PATH_MAX && is_program(path))
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the files of Nodewise. Their relative places are the same in a build
 * folder, in an installed tree and in a tree that was moved. So the search
 * starts from the running program, or from the library of Nodewise that a
 * user's program has loaded. */
#include "base/install_path.h"
#include "config.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool install_path_is_here(const char *folder, const char *below,
                                 const char *name, int mode,
                                 char path[PATH_MAX])
{
    int size = snprintf(path, PATH_MAX, "%s%s/%s", folder, below, name);

    return size > 0 && size < PATH_MAX && !access(path, mode);
}

/* Stores the path of the file that contains this code: the program itself, or a
 * library of Nodewise that another program has loaded. */
static void find_own_file(char path[PATH_MAX])
{
    struct link_map *object = NULL;
    Dl_info info;
    ssize_t length;

    *path = '\0';
    if (dladdr1((void *)(uintptr_t)find_own_file, &info, (void **)&object,
                RTLD_DL_LINKMAP) &&
        object && object->l_name && *object->l_name) {
        if (!realpath(object->l_name, path))
            *path = '\0';
        return;
    }
    length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = '\0';
}

bool nw_install_path_find(const char *beside, const char *name, int mode,
                          char path[PATH_MAX])
{
    char folder[PATH_MAX], *slash;

    find_own_file(folder);
    slash = strrchr(folder, '/');
    if (slash) {
        *slash = '\0';
        if (install_path_is_here(folder, "", beside, mode, path))
            return true;
        slash = strrchr(folder, '/');
    }
    if (slash) {
        *slash = '\0';
        if (install_path_is_here(folder, "/" NW_LIBEXECDIR_NAME, name, mode,
                                 path) ||
            install_path_is_here(folder, "/" NW_LIBDIR_NAME, name, mode, path))
            return true;
    }
    return install_path_is_here(NW_LIBEXECDIR, "", name, mode, path) ||
           install_path_is_here(NW_LIBDIR, "", name, mode, path);
}

static bool install_path_is_program(const char *path)
{
    struct stat info;

    return !stat(path, &info) && S_ISREG(info.st_mode) && !access(path, X_OK);
}

bool nw_install_path_search(const char *name, char path[PATH_MAX])
{
    const char *at = getenv("PATH");

    if (strchr(name, '/'))
        return snprintf(path, PATH_MAX, "%s", name) < PATH_MAX &&
               install_path_is_program(path);
    while (at && *at) {
        size_t length = strcspn(at, ":");
        int size = snprintf(path, PATH_MAX, "%.*s/%s", (int)length, at, name);

        if (length && size < PATH_MAX && install_path_is_program(path))
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds programs and libraries: those installed with the running program, and
 * those on the PATH. */
#ifndef NW_BASE_INSTALL_PATH_H
#define NW_BASE_INSTALL_PATH_H

#include <limits.h>
#include <stdbool.h>

/* Finds a file of Nodewise with access mode `mode`. It looks in this order:
 * 1. at `beside`, a path relative to the folder of the running program (or of
 *    our library, in a user's program), as in a build folder;
 * 2. for `name` in the installed tree around that program or library, even if
 *    the tree was moved;
 * 3. for `name` in the tree that was configured for installation. */
bool nw_install_path_find(const char *beside, const char *name, int mode,
                          char path[PATH_MAX]);

/* Finds a program on the PATH as a shell does, except that empty entries of the
 * PATH are ignored. A `name` with a slash is copied unchanged. Returns false,
 * with `path` undefined, if the program is missing. */
bool nw_install_path_search(const char *name, char path[PATH_MAX]);

#endif

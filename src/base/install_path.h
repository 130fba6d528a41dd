/* SPDX-License-Identifier: BSD-3-Clause */
/* Where programs and libraries are: those that belong to the running one, and
 * those of the PATH. */
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

/* Finds a program as a shell does, except that empty words of the PATH are
 * ignored; a `name` with a slash is returned itself. False, with `path`
 * undefined, if the program is missing. */
bool nw_install_path_search(const char *name, char path[PATH_MAX]);

#endif

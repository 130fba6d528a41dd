/* SPDX-License-Identifier: BSD-3-Clause */
/* Where programs and libraries are: those that belong to the running one, and
 * those of the PATH. */
#ifndef NW_BASE_OWN_H
#define NW_BASE_OWN_H

#include <limits.h>
#include <stdbool.h>

/* `name` under the folder of the running program (or of our library, in a
 * user's program), where `beside` is its path in a build folder; else in an
 * installed tree around that program or library, wherever it
 * was moved to; else where it was to be installed. `mode` is access()'s. */
bool nw_own_find(const char *beside, const char *name, int mode,
                 char path[PATH_MAX]);

/* A program as a shell finds it, but for empty words of the PATH: `name` itself
 * where a slash is in it. False, with `path` undefined, where there is none. */
bool nw_own_search(const char *name, char path[PATH_MAX]);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the file to write for a given name. Symbolic links are followed as by
 * the shell's redirections, although files are replaced and not overwritten.
 */
#ifndef NW_BASE_TARGET_H
#define NW_BASE_TARGET_H

#include <nodewise/status.h>
#include <limits.h>
#include <stdbool.h>

/* Stores in `out` the path after all symbolic links of `path`; the file need
 * not exist. A link to an open file of a process, such as /dev/stdout, is not
 * followed, since that file may have no name. */
NW_MUST_CHECK nw_status nw_target_find(const char *path, char out[PATH_MAX]);

/* Returns N if `target`, from nw_target_find, is the path /proc/.../fd/N of an
 * open file of this process, such as /proc/self/fd/1; else -1. */
int nw_target_is_open(const char *target);
/* Returns true if the open file is the one that `path` names now. */
bool nw_target_is_file(int fd, const char *path);

#endif

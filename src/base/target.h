/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which file a name means to who writes it: what a symbolic link points to, as
 * for the shell's redirections, though files are replaced and not written into.
 */
#ifndef NW_BASE_TARGET_H
#define NW_BASE_TARGET_H

#include <nodewise/status.h>
#include <limits.h>

/* The name behind `path` and all links that it is, whether there is such a file
 * or not yet. A link to an open file of a process, as /dev/stdout leads to, is
 * not followed: that file is not known by its name. */
NW_MUST_CHECK nw_status nw_target_find(const char *path, char out[PATH_MAX]);

/* The open file of this process that a name so found is; -1: none. */
int nw_target_is_open(const char *target);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a summary of the pattern that `nodewise profile` wrote. */
#ifndef NW_CLI_PROFILE_TELL_H
#define NW_CLI_PROFILE_TELL_H

#include <nodewise/status.h>

#include <stdbool.h>

/* Prints to standard error what is in the file, its heaviest pairs, the
 * patterns of its phases if `phases`, and which command comes next. A file that
 * cannot be read is passed over. */
void nw_profile_tell(const char *path, bool phases);
/* Removes the patterns of the phases of an earlier run, so that only those of
 * this run are there. */
NW_MUST_CHECK nw_status nw_profile_remove_phases(const char *path);

#endif

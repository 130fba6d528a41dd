/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a summary of the pattern that `nodewise profile` wrote. */
#ifndef NW_CLI_PROFILE_OUTPUT_H
#define NW_CLI_PROFILE_OUTPUT_H

#include <nodewise/status.h>

#include <stdbool.h>

/* Prints to standard error a summary of the pattern, its heaviest pairs, the
 * patterns of its phases if `phases`, and the next command to use. Prints
 * nothing about a file that cannot be read. */
void nw_profile_tell(const char *path, bool phases);
/* Removes the files with the phases of an earlier run. */
NW_MUST_CHECK nw_status nw_profile_remove_phases(const char *path);

#endif

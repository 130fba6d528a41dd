/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a summary of the pattern that `nodewise profile` wrote. */
#ifndef NW_CLI_PROFILE_TELL_H
#define NW_CLI_PROFILE_TELL_H

/* Prints to standard error what is in the file, its heaviest pairs, and which
 * command comes next. A file that cannot be read is passed over. */
void nw_profile_tell(const char *path);

#endif

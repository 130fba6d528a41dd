/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints and removes the patterns that `nodewise run` has stored, and finds one
 * of the same program with other arguments or another number of ranks. */
#ifndef NW_CLI_RUN_STORE_ENTRY_H
#define NW_CLI_RUN_STORE_ENTRY_H

#include "cli/run_store.h"

/* Finds the newest stored pattern of the same program, whatever its arguments
 * and input files. Prefers patterns with the job's number of ranks. Otherwise
 * takes a pattern that can be scaled to this number by the grid of ranks that
 * nw_pattern_scale finds in it. *how says which pattern was taken. The caller
 * frees *out and *how. If no pattern fits, *out is NULL. */
NW_MUST_CHECK nw_status nw_known_find(const struct nw_store *store,
                                      const struct nw_job *job,
                                      nw_pattern **out, char **how);

/* Writes a list of the patterns that are stored in `folder`, as given to
 * nw_store_open, to the file `output`, or to standard output if it is NULL. */
NW_MUST_CHECK nw_status nw_known_show(const char *folder, bool as_json,
                                      const char *output);
/* Removes the patterns of the program with this name and their entries. If
 * `program` is NULL, removes all patterns, entries, topologies and launches.
 * *count is the number of removed patterns and topologies. */
NW_MUST_CHECK nw_status nw_known_forget(const char *folder, const char *program,
                                        size_t *count);

#endif

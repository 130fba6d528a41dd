/* SPDX-License-Identifier: BSD-3-Clause */
/* All patterns that `nodewise run` has stored: shown, removed, and searched for
 * one that serves another job of the same program. */
#ifndef NW_CLI_RUN_KNOWN_H
#define NW_CLI_RUN_KNOWN_H

#include "cli/run_store.h"

/* The newest pattern of the same program with other input: preferably of as
 * many ranks, else extended to the ranks of the job by the grid found in it.
 * *out is NULL if none fits; else *how says which, and the caller frees *out.
 * */
NW_MUST_CHECK nw_status nw_known_find(const struct nw_store *store,
                                      const struct nw_job *job,
                                      nw_pattern **out, char **how);

/* Prints what is stored; `folder` as of nw_store_open. */
NW_MUST_CHECK nw_status nw_known_show(const char *folder, bool as_json);
/* Removes the patterns of a program, named as it was run, or with NULL all
 * patterns and topologies. *count is the number of these that were removed. */
NW_MUST_CHECK nw_status nw_known_forget(const char *folder, const char *program,
                                        size_t *count);

#endif

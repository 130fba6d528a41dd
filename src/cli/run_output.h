/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the command that nodewise run starts, for a shell, or as JSON with the
 * mapping's prediction and the measured times. */
#ifndef NW_CLI_RUN_OUTPUT_H
#define NW_CLI_RUN_OUTPUT_H

#include "cli/run_compare.h"

/* The command that nodewise run starts, and the reason for this command. */
struct nw_run_account {
    const char *action;    /* profile, map or plain (without Nodewise) */
    const char *why;       /* the error because of which `action` is plain;
                              NULL: none */
    char *const *variable; /* NAME=VALUE, NULL at the end; may be NULL */
    char *const *word;     /* words of the command, NULL at the end */
    const struct nw_run_plan *plan;         /* the plan of a mapped run; else
                                               NULL */
    const struct nw_comparison *comparison; /* the measured comparison; or
                                               NULL */
};

/* Writes the command, or with `as_json` the account as JSON, to `path`; "-" and
 * NULL are standard output. A regular file is written whole or not at all, a
 * device or a pipe directly. */
NW_MUST_CHECK nw_status nw_run_tell(const struct nw_job *job,
                                    const struct nw_run_account *account,
                                    bool as_json, const char *path);

#endif

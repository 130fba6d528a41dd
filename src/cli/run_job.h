/* SPDX-License-Identifier: BSD-3-Clause */
/* The job of `nodewise run`: its launcher, hosts and ranks, and the command
 * line that would start it without us. */
#ifndef NW_CLI_RUN_JOB_H
#define NW_CLI_RUN_JOB_H

#include "cli/launcher.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stdint.h>

struct nw_words {
    char **word; /* NULL at the end */
    size_t count, capacity;
};
NW_MUST_CHECK nw_status nw_words_add(struct nw_words *words, const char *word);
void nw_words_fini(struct nw_words *words);

struct nw_job {
    /* asked for */
    int32_t ranks; /* 0: found by nw_job_find */
    const char *hostfile, *hosts, *launcher_line;
    const char *flavour; /* found where it was not said; may stay NULL */
    char **program;
    /* found */
    enum nw_launcher_kind kind;
    struct nw_words launcher;  /* the launcher and the user's options for it */
    struct nw_words placement; /* those that place ranks, for a run that is not
                                  mapped */
    const char *writer;        /* its name in nw_launch_new; static */
    struct nw_words host;      /* names, each once */
    int32_t *slots;            /* [host.count] most ranks; 0: not said */
    bool in_batch;             /* hosts are those of a batch system */
    int32_t shared_cores; /* number of cores, if ranks share them and the job is
                             on this machine only; else 0 */
};

/* NW_ENODEV where no launcher is found. */
NW_MUST_CHECK nw_status nw_job_find_launcher(struct nw_job *job);
/* Completes hosts and ranks from the batch system's job, else from this
 * machine. NW_EFORMAT, NW_EIO: a host list that we cannot read; the launcher
 * may. */
NW_MUST_CHECK nw_status nw_job_find_hosts(struct nw_job *job);
void nw_job_fini(struct nw_job *job);

/* The launcher's words with number and hosts of the ranks, without a program.
 * */
NW_MUST_CHECK nw_status nw_job_start_words(const struct nw_job *job,
                                           struct nw_words *out);
/* The launcher's words with the program: the command without nodewise. */
NW_MUST_CHECK nw_status nw_job_plain_words(const struct nw_job *job,
                                           struct nw_words *out);

/* Starts the words with variables "NAME=VALUE" (ends with NULL; may be NULL),
 * and waits; passes signals on. Returns the exit status as a shell gives it;
 * 127 if the words cannot be started. */
int nw_job_run(char **argv, char **variables);
/* Tries whether the words work: runs them without output for at most `seconds`.
 * */
int nw_job_try(char **argv, char **variables, int seconds);
/* Until all ranks of the job should have been started, in seconds. */
int nw_job_start_seconds(const struct nw_job *job);

#endif

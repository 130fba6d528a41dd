/* SPDX-License-Identifier: BSD-3-Clause */
/* The job of `nodewise run`: its launcher, hosts and ranks, and the command
 * line that starts the job without Nodewise. */
#ifndef NW_CLI_RUN_JOB_H
#define NW_CLI_RUN_JOB_H

#include "base/name_index.h"
#include "cli/launcher.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stdint.h>

/* A list of words, such as a command line. */
struct nw_words {
    char **word; /* [count] words, then NULL */
    size_t count, capacity;
};
NW_MUST_CHECK nw_status nw_words_add(struct nw_words *words, const char *word);
void nw_words_fini(struct nw_words *words);

/* An MPI job: the program, its launcher, its hosts and ranks. */
struct nw_job {
    /* given by the user; NULL or 0 if not given */
    int32_t ranks; /* number of ranks; if 0, nw_job_find_hosts sets it */
    int32_t cores_per_rank; /* cores of each mapped rank; 0: 1 */
    const char *hostfile, *hosts, *launcher_line;
    /* openmpi or mpich, given by the user; else set by nw_job_find_launcher,
     * see nw_launcher_flavour; NULL if unknown */
    const char *flavour;
    char **program;
    /* set by nw_job_paste */
    bool is_line;  /* the user gave the launcher's own line */
    int32_t nodes; /* number of nodes in this line; 0: not given */
    /* set by nw_job_find_launcher and nw_job_find_hosts */
    enum nw_launcher_kind kind;
    struct nw_words launcher;   /* the launcher and those of the user's
                                   launcher options that a mapped run keeps */
    struct nw_words placement;  /* the user's launcher options that place
                                   ranks; used by runs that are not mapped */
    const char *writer;         /* name of the launcher for nw_launch_new;
                                   static */
    struct nw_words host;       /* names of the hosts, each once */
    struct nw_name_table table; /* of `host` */
    int32_t *slots;             /* [host.count] most ranks on each host; 0: not
                                   given */
    size_t slot_capacity;
    bool in_batch;        /* the hosts come from a batch system */
    int32_t shared_cores; /* number of cores if ranks share cores and the job
                             runs only on this machine; else 0 */
};

/* Sets launcher, kind, writer and flavour of the job; keeps a launcher and a
 * flavour that it already has. Returns NW_ENODEV if no launcher is found,
 * NW_EINVAL for an invalid --launcher, NW_EHELPER if the launcher of --launcher
 * does not print its version in time. */
NW_MUST_CHECK nw_status nw_job_find_launcher(struct nw_job *job);
/* Returns NW_EMPI if the program is linked with another MPI than that of the
 * launcher: each rank would then be a job of its own. Does not check jobs that
 * srun starts, nor programs whose MPI is unknown or is the MPI standard ABI. */
NW_MUST_CHECK nw_status nw_job_check_mpi(const struct nw_job *job);
/* Checks the list of --hosts, which the launcher gets even if Nodewise cannot
 * read it. Returns NW_EINVAL if an item begins with '-', so that the launcher
 * would take it for an option, or if the list has a control character other
 * than tab, carriage return and newline. */
NW_MUST_CHECK nw_status nw_job_check_list(const struct nw_job *job);
/* Finds the hosts: those that the user gave, else those of the batch system,
 * else this machine; and the number of ranks, unless it is given. Returns
 * NW_EFORMAT or NW_EIO for a host list that this function cannot read; the
 * launcher may still be able to read it. Returns NW_EINVAL for a name that the
 * launcher could misread. */
NW_MUST_CHECK nw_status nw_job_find_hosts(struct nw_job *job);
void nw_job_fini(struct nw_job *job);

/* Stores the launcher's words without a program: the launcher and its options,
 * the option for sharing cores if it is needed, the number of ranks, and the
 * hosts if the user gave them. */
NW_MUST_CHECK nw_status nw_job_start_words(const struct nw_job *job,
                                           struct nw_words *out);
/* Stores the command line that starts the job without Nodewise. */
NW_MUST_CHECK nw_status nw_job_plain_words(const struct nw_job *job,
                                           struct nw_words *out);

/* Runs the command `argv` with `variables` ("NAME=VALUE", NULL at the end; may
 * be NULL), and waits for it; forwards signals. Returns the exit status as a
 * shell does; 127 if the command cannot be started. */
int nw_job_run(char **argv, char **variables);
/* Like nw_job_run, but discards the output and ends the command after
 * `seconds`. */
int nw_job_try(char **argv, char **variables, int seconds);
/* Returns the time in seconds after which all ranks should have started. */
int nw_job_start_seconds(const struct nw_job *job);

#endif

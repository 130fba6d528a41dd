/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs an MPI program under the launcher that the user gave, with a library of
 * Nodewise preloaded into the ranks but not into the launcher. */
#ifndef NW_CLI_PRELOAD_H
#define NW_CLI_PRELOAD_H

#include "cli/launcher.h"

#include <argp.h>

struct nw_preload {
    enum nw_launcher_kind launcher;
    const char *mpi; /* name of the MPI for messages, such as "Open MPI";
                        static */
    char *library;   /* path of the library to preload */
    char **argv;     /* the command that nw_preload_prepare makes */
};

/* Returns the value of --mpi: openmpi, mpich or mpiabi. Another word ends the
 * program with wrong usage. */
const char *nw_preload_flavour(struct argp_state *state, const char *word);
/* Finds the launcher of `argv` and the library for its MPI; `flavour` is NULL
 * or the one that the user gave. NW_ENODEV: unknown MPI, or no library. The
 * caller frees *out with nw_preload_fini, also after a failure. */
NW_MUST_CHECK nw_status nw_preload_find(const char *flavour, char **argv,
                                        struct nw_preload *out);
/* Makes the command that passes the library and `variables` to the ranks.
 * Without a launcher, the command is argv, and nw_preload_run sets the
 * variables. */
NW_MUST_CHECK nw_status
nw_preload_prepare(struct nw_preload *preload, char **argv,
                   const struct nw_variables *variables);
/* Runs the prepared command and returns its exit status. `command` is the name
 * of our command, for messages. */
int nw_preload_run(const struct nw_preload *preload, const char *command,
                   const struct nw_variables *variables);
void nw_preload_fini(struct nw_preload *preload);

/* Finds, prepares and runs the command. Passes `variables` to the ranks, and
 * the NODEWISE_ variables of this process that `variables` lacks. Prints
 * errors; returns the exit status. */
int nw_preload_command(const char *command, const char *flavour, char **argv,
                       const struct nw_variables *variables);

#endif

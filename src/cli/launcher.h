/* SPDX-License-Identifier: BSD-3-Clause */
/* The command that starts an MPI program. These functions identify the
 * launcher, and set environment variables for the ranks without setting them
 * for the launcher. */
#ifndef NW_CLI_LAUNCHER_H
#define NW_CLI_LAUNCHER_H

#include <nodewise/status.h>

#include <stdbool.h>
#include <stddef.h>

enum nw_launcher_kind {
    NW_LAUNCHER_NONE, /* the program itself, as a single rank */
    NW_LAUNCHER_OPENMPI,
    NW_LAUNCHER_HYDRA, /* MPICH, Intel MPI, MVAPICH */
    NW_LAUNCHER_SRUN,
};

/* Like nw_cli_ask, but keeps the answers for the last eight launchers and does
 * not ask these again: stores the output of `NAME --version`, cut to the size
 * of the buffer; "" if the program cannot be started. Returns false, and stores
 * "", if the program does not end in time. */
enum { NW_LAUNCHER_ANSWER = 4096 };
bool nw_launcher_ask(const char *name, char answer[NW_LAUNCHER_ANSWER]);

/* Returns true for names such as mpirun, mpiexec.hydra and srun, with or
 * without a folder. */
bool nw_launcher_is_name(const char *name);

/* Identifies a launcher by the output of `NAME --version`. If `name` is unlike
 * that of any launcher, *out is NW_LAUNCHER_NONE. NW_ENODEV if the name is like
 * a launcher's but the output is not that of a known one; NW_EHELPER if the
 * program does not end in time. */
NW_MUST_CHECK nw_status nw_launcher_find(const char *name,
                                         enum nw_launcher_kind *out);

/* Returns the MPI flavour: that of the launcher if this is Open MPI or Hydra,
 * else that of the first program in argv that is linked with an MPI library:
 * "openmpi", "mpich" or "mpiabi", static; NULL if unknown. */
const char *nw_launcher_flavour(enum nw_launcher_kind launcher, char **argv);

/* Returns the name of the library to preload, static: "mpiabi" for a program
 * that is linked with the MPI standard ABI, else the MPI flavour. */
const char *nw_launcher_library(enum nw_launcher_kind launcher, char **argv);

/* Environment variables for the ranks. */
struct nw_variables {
    const char **name;
    const char **value;
    size_t count;
};
/* Makes a command that passes the variables to the ranks. Libraries in the
 * LD_PRELOAD of argv or else of this process stay first in the list. For srun,
 * a variable whose value has a comma replaces that of this process, and srun
 * exports it from there; LD_PRELOAD with a comma is NW_EUNSUPPORTED, since srun
 * would load the libraries, too. For NW_LAUNCHER_NONE, the command is argv, and
 * the caller sets the variables. The caller frees *out with nw_argv_free. */
NW_MUST_CHECK nw_status nw_launcher_argv(enum nw_launcher_kind launcher,
                                         char **argv,
                                         const struct nw_variables *variables,
                                         char ***out);
/* Frees the words and the array; NULL is allowed. */
void nw_argv_free(char **argv);

#endif

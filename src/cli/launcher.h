/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command that starts an MPI program: identifies the launcher and passes
 * variables to the ranks without setting them for the launcher itself.
 */
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

/* Stores the output of `NAME --version`, cut to the size of the buffer; "" if
 * the program cannot be started; "" and false if it does not end. */
enum { NW_LAUNCHER_ANSWER = 4096 };
bool nw_launcher_ask(const char *name, char answer[NW_LAUNCHER_ANSWER]);

/* True for names such as mpirun, mpiexec.hydra and srun, with or without a
 * folder. */
bool nw_launcher_is_name(const char *name);

/* Identifies a launcher by its name and the output of `NAME --version`.
 * NW_ENODEV for an unknown launcher, NW_EHELPER if it prints nothing in time.
 * */
NW_MUST_CHECK nw_status nw_launcher_find(const char *name,
                                         enum nw_launcher_kind *out);

/* The MPI flavour of a command, "openmpi" or "mpich", static: of the launcher,
 * else of the first program in argv that needs an MPI; NULL if unknown. */
const char *nw_launcher_flavour(enum nw_launcher_kind launcher, char **argv);

/* The library to preload, static: "mpiabi" for a program that is linked with
 * the MPI standard ABI, else the flavour. */
const char *nw_launcher_library(enum nw_launcher_kind launcher, char **argv);

/* Passes `count` variables to the ranks. If the command sets LD_PRELOAD itself,
 * the libraries of the command stay first. *out is a new argv, freed with
 * nw_argv_free. Without a launcher, the caller sets the variables. */
struct nw_variables {
    const char **name;
    const char **value;
    size_t count;
};
NW_MUST_CHECK nw_status nw_launcher_argv(enum nw_launcher_kind launcher,
                                         char **argv,
                                         const struct nw_variables *variables,
                                         char ***out);
void nw_argv_free(char **argv);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command that starts an MPI program, as a person types it: whose it is,
 * and how it hands variables on to the ranks without having them itself.
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

/* What `NAME --version` prints, as far as there is room; "" where it cannot be
 * started, and, with false, where it does not end. */
enum { NW_LAUNCHER_ANSWER = 4096 };
bool nw_launcher_ask(const char *name, char answer[NW_LAUNCHER_ANSWER]);

/* By its name and by what `NAME --version` says; NW_ENODEV where it looks like
 * a launcher and is none that is known, NW_EHELPER where it says nothing in
 * time. */
NW_MUST_CHECK nw_status nw_launcher_find(const char *name,
                                         enum nw_launcher_kind *out);

/* The flavour of MPI, "openmpi" or "mpich", of what is to be started: the
 * launcher's, else that of the first program in argv that needs one; NULL
 * where neither tells. Static. */
const char *nw_launcher_flavour(enum nw_launcher_kind launcher, char **argv);

/* Which of our libraries is preloaded: "mpiabi" for a program that is linked
 * with the MPI standard ABI, else the flavour. Static. */
const char *nw_launcher_library(enum nw_launcher_kind launcher, char **argv);

/* `names` and `values` are `count` variables for the ranks; where the command
 * sets one of them itself, LD_PRELOAD keeps that in front. *out is a new argv,
 * freed with nw_argv_free; without a launcher the variables are left to the
 * caller. */
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

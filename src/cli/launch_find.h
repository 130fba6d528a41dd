/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that `nodewise launch` finds: the launcher of --for auto, and
 * how srun starts the program's MPI. */
#ifndef NW_CLI_LAUNCH_FIND_H
#define NW_CLI_LAUNCH_FIND_H

#include <nodewise/launch.h>

#include <stdbool.h>

/* Returns true for the names of --for that stand for another launcher: "auto"
 * is the launcher of the batch system of this job, else of the program's MPI;
 * "openmpi" is the launcher of the installed Open MPI. */
bool nw_launch_is_alias(const char *name);
/* Replaces "auto" or "openmpi" in options->launcher by the launcher that it
 * stands for. *command is the command of this launcher, which the caller frees;
 * NULL for other names. NW_ENODEV if no launcher is found. */
NW_MUST_CHECK nw_status nw_launch_resolve(struct nw_launch_options *options,
                                          char **command);
/* Returns the value of srun's --mpi for the program, a static string; NULL if
 * unknown. */
const char *nw_launch_srun_mpi(const struct nw_launch_options *options);

#endif

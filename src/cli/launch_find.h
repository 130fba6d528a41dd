/* SPDX-License-Identifier: BSD-3-Clause */
/* Values that `nodewise launch` finds: the launcher of --for auto, and
 * how srun starts the program's MPI. */
#ifndef NW_CLI_LAUNCH_FIND_H
#define NW_CLI_LAUNCH_FIND_H

#include <nodewise/launch.h>

#include <stdbool.h>

/* Names of --for that stand for one of nw_launch_launcher: "auto" for the
 * launcher of the batch system around us, else of the program's MPI; "openmpi"
 * for that of the Open MPI installed here. */
bool nw_launch_is_alias(const char *name);
/* Replaces such a name in options->launcher. *command is the launcher's command
 * as it was found, which the caller frees; NULL for other names. NW_ENODEV if
 * no launcher is found. */
NW_MUST_CHECK nw_status nw_launch_resolve(struct nw_launch_options *options,
                                          char **command);
/* The value of srun's --mpi for the program, static; NULL if unknown. */
const char *nw_launch_srun_mpi(const struct nw_launch_options *options);

#endif

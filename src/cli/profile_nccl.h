/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise profile --nccl: records the calls of NCCL in a program without
 * MPI. */
#ifndef NW_CLI_PROFILE_NCCL_H
#define NW_CLI_PROFILE_NCCL_H

#include "cli/command.h"

/* Runs the command with NCCL's profiler plug-in, and writes the recorded
 * pattern to the file of -o. Returns the exit status. */
int nw_profile_nccl(const struct nw_common *common, char **command);

#endif

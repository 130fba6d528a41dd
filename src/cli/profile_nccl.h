/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise profile --nccl: a program without MPI, watched by NCCL itself. */
#ifndef NW_CLI_PROFILE_NCCL_H
#define NW_CLI_PROFILE_NCCL_H

#include "cli/command.h"

/* Runs the command with NCCL's profiler plug-in, and writes its pattern to the
 * file of -o. Returns the exit status. */
int nw_profile_nccl(const struct nw_common *common, char **command);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Agreement of all ranks in MPI_Init before Nodewise makes collective calls: a
 * launcher may not pass the variables or the preloaded library to some hosts. A
 * rank without a NODEWISE variable sends no messages here. */
#ifndef NW_RUNTIME_RANK0_ENVIRONMENT_H
#define NW_RUNTIME_RANK0_ENVIRONMENT_H

#include <mpi.h>
#include <stdbool.h>

/* Checks that every rank of `world` has this library and one of the NODEWISE
 * variables that need all ranks, then broadcasts the values of rank 0. MPI_Init
 * calls this function before other Nodewise code; a program with MPI sessions
 * calls it when it first has a communicator of all processes. Only the first
 * call has an effect, and only on ranks with a variable. Rank 0 waits 10 s for
 * missing ranks and then warns. If rank 0 itself is missing for 20 s, the job
 * is aborted, since the program on rank 0 could receive the message that was
 * sent to Nodewise. */
void nw_rank0_environment_meet(MPI_Comm world);
/* Returns whether nw_rank0_environment_meet found all ranks, so that Nodewise
 * may make collective calls. Local. */
bool nw_rank0_environment_joined(void);
/* Returns rank 0's value of an environment variable, equal on all ranks.
 * Returns NULL if rank 0's variable is unset or empty, if some ranks were
 * missing, or if `name` is not in the list `names` of rank0_environment.c.
 * Local. */
const char *nw_rank0_environment_variable(const char *name);

#endif

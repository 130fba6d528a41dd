/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ranks do in common in MPI_Init needs the agreement of all of them:
 * a launcher may have left the variables of some hosts behind, or the library.
 * Without a variable on a rank nothing here talks to other ranks. */
#ifndef NW_RUNTIME_RANK0_ENVIRONMENT_H
#define NW_RUNTIME_RANK0_ENVIRONMENT_H

#include <mpi.h>
#include <stdbool.h>

/* Comes before all else in MPI_Init, or once a program of sessions has a
 * communicator of all processes, `world`. The first call counts. If this rank
 * has one of the variables, it meets the others. Rank 0 waits 10 s for those
 * that do not come, and says so; if rank 0 itself does not come for 20 s, the
 * job is ended with a sentence, since a message to rank 0 is then under way
 * that the program could receive.
 */
void nw_rank0_environment_meet(MPI_Comm world);
/* Whether all ranks have come, so that collective calls are safe. Local. */
bool nw_rank0_environment_joined(void);
/* The value of a variable by which something collective is decided; NULL if
 * rank 0 has none or an empty one, or not all ranks have come. Local. */
const char *nw_rank0_environment_variable(const char *name);

#endif

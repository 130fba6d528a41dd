/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective work in MPI_Init needs the agreement of all ranks: a launcher may
 * not pass the variables, or the library, to some hosts. A rank without a
 * variable sends no messages here. */
#ifndef NW_RUNTIME_RANK0_ENVIRONMENT_H
#define NW_RUNTIME_RANK0_ENVIRONMENT_H

#include <mpi.h>
#include <stdbool.h>

/* Comes before all else in MPI_Init, or once a program of sessions has a
 * communicator of all processes, `world`. The first call counts. If this rank
 * has one of the variables, it meets the others. Rank 0 waits 10 s for missing
 * ranks and then warns. If rank 0 itself is missing for 20 s, the job ends with
 * an error, since the program could receive the message that waits for rank 0.
 */
void nw_rank0_environment_meet(MPI_Comm world);
/* Whether all ranks have come, so that collective calls are safe. Local. */
bool nw_rank0_environment_joined(void);
/* The value of a variable by which something collective is decided; NULL if
 * rank 0 has none or an empty one, or not all ranks have come. Local. */
const char *nw_rank0_environment_variable(const char *name);

#endif

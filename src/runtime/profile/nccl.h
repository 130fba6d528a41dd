/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts the messages that a program sends between GPUs through its NCCL (or
 * RCCL) library. A unique id identifies each communicator. At the end all ranks
 * find together which ranks of MPI_COMM_WORLD belong to it.
 */
#ifndef NW_PROFILE_NCCL_H
#define NW_PROFILE_NCCL_H

#include "runtime/mpi_symbols.h"

/* Reads NODEWISE_NCCL. */
void nw_nccl_open(void);
/* Puts what was recorded into the tally, as ranks of MPI_COMM_WORLD; collective
 * over `comm`, a copy of it. */
void nw_nccl_finish(MPI_Comm comm);

#endif

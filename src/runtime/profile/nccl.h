/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts the messages that a program sends between GPUs through NCCL or RCCL.
 * Each NCCL communicator is identified by its unique id. In MPI_Finalize, all
 * ranks together find out which ranks of MPI_COMM_WORLD belong to each
 * communicator.
 */
#ifndef NW_PROFILE_NCCL_H
#define NW_PROFILE_NCCL_H

#include "runtime/mpi_symbols.h"

/* Reads NODEWISE_NCCL. */
void nw_nccl_open(void);
/* Adds the recorded NCCL messages to the counts, between ranks of
 * MPI_COMM_WORLD. Collective over `comm`, a duplicate of MPI_COMM_WORLD. */
void nw_nccl_finish(MPI_Comm comm);

#endif

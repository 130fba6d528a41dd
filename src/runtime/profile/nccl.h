/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program's NCCL (or RCCL) library is asked to send between GPUs.
 * Communicators are known by their unique id; who of MPI_COMM_WORLD is which
 * rank of theirs is found at the end, among all.
 */
#ifndef NW_PROFILE_NCCL_H
#define NW_PROFILE_NCCL_H

#include "runtime/flavour.h"

/* Reads NODEWISE_NCCL. */
void nw_nccl_open(void);
/* Puts what was recorded into the tally, as ranks of MPI_COMM_WORLD; collective
 * over `comm`, a copy of it. */
void nw_nccl_finish(MPI_Comm comm);

#endif

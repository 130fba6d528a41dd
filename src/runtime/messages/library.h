/* SPDX-License-Identifier: BSD-3-Clause */
/* Identifies the MPI library that the program uses, since measurements are
 * stored per library. */
#ifndef NW_MESSAGES_LIBRARY_H
#define NW_MESSAGES_LIBRARY_H

#include <stdint.h>

/* Returns a hash of `start` and the library's version string. */
uint64_t nw_mpi_hash(uint64_t start);

#endif

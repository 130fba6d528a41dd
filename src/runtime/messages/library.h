/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI library that the program uses. Measurements are kept for each
 * library. */
#ifndef NW_MESSAGES_LIBRARY_H
#define NW_MESSAGES_LIBRARY_H

#include <stdint.h>

/* A hash of the library's version string. */
uint64_t nw_mpi_hash(uint64_t start);

#endif

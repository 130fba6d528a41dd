/* SPDX-License-Identifier: BSD-3-Clause */
/* Which MPI library carries messages: what is measured is kept for one alone.
 */
#ifndef NW_MESSAGES_LIBRARY_H
#define NW_MESSAGES_LIBRARY_H

#include <stdint.h>

/* Of what it says of itself. */
uint64_t nw_mpi_hash(uint64_t start);
enum { NW_MPI_NAME = 32 };
/* In a provider's place in the channel's table: mpi:openmpi:0123456789abcdef */
void nw_mpi_name(char out[NW_MPI_NAME]);

#endif

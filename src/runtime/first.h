/* SPDX-License-Identifier: BSD-3-Clause */
/* What rank 0 has in its variables, on all ranks: a launcher may have left
 * those of other hosts behind, and what we do in MPI_Init is collective, so
 * that some ranks would wait for the others for ever. */
#ifndef NW_RUNTIME_FIRST_H
#define NW_RUNTIME_FIRST_H

/* Ahead of all else in MPI_Init. Collective over MPI_COMM_WORLD: where some
 * ranks do not have this library, the others wait, and say so after 10 s. */
void nw_first_read(void);
/* The value of a variable by which something collective is decided; NULL where
 * rank 0 has none, or an empty one. Local. */
const char *nw_first_variable(const char *name);

#endif

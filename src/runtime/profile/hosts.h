/* SPDX-License-Identifier: BSD-3-Clause */
/* The hosts of a run, in words. */
#ifndef NW_PROFILE_HOSTS_H
#define NW_PROFILE_HOSTS_H

#include "runtime/mpi_symbols.h"

/* On rank 0 a line such as "ranks by host n1 0-1, n2 2-3"; NULL if there is
 * only one host, and on the other ranks. Collective. The caller frees it. */
char *nw_hosts_gather(MPI_Comm comm);
/* Puts it behind what a note has (NULL: nothing). */
void nw_hosts_note(const char *hosts, char **note);

#endif

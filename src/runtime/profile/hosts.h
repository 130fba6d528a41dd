/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes which ranks ran on which host. */
#ifndef NW_PROFILE_HOSTS_H
#define NW_PROFILE_HOSTS_H

#include "runtime/mpi_symbols.h"

/* Returns on rank 0 a line such as "ranks by host n1 0-1, n2 2-3", which the
 * caller frees. Returns NULL on the other ranks, and if there is only one host.
 * Collective. */
char *nw_hosts_gather(MPI_Comm comm);
/* Appends `hosts` to *note; does nothing if `hosts` is NULL. */
void nw_hosts_note(const char *hosts, char **note);

#endif

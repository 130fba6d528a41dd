/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gathers the locations of all ranks of the job on every rank, once: in
 * MPI_Init, or at the first nw_reorder_cart_create. After that, the machine of
 * any communicator is known without messages.
 */
#ifndef NW_REORDER_DISCOVER_H
#define NW_REORDER_DISCOVER_H

#include "runtime/mpi_symbols.h"
#include "runtime/reorder/job_location.h"

#include <stdbool.h>

/* Fills `job` on all ranks. `comm` is congruent to MPI_COMM_WORLD; collective
 * over `comm`. Returns false, with *job empty, if the mapping file cannot be
 * used, if MPI fails, or if memory is exhausted on any rank. If only a node or
 * the network cannot be read, returns true, and the ranks of the node, or all
 * nodes, count as equally near. The caller frees *job with nw_discovered_free.
 */
bool nw_discover(struct nw_job_location *job, MPI_Comm comm);
/* Makes the communicator of the ranks of `comm` on this rank's node, in the
 * order of `key`; the caller frees it. Collective over `comm`. Returns an error
 * code of MPI. */
int nw_discover_split(MPI_Comm comm, int key, MPI_Comm *local);
void nw_discovered_free(struct nw_job_location *job);

#endif

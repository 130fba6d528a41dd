/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The locations of all ranks of the job, known to every rank. MPI_Init gathers
 * them once, so that a communicator needs no messages to know its machine.
 */
#ifndef NW_REORDER_DISCOVER_H
#define NW_REORDER_DISCOVER_H

#include "runtime/mpi_symbols.h"
#include "runtime/reorder/node_seats.h"

#include <stdbool.h>

/* Collective over `comm`, which is congruent to MPI_COMM_WORLD. False if some
 * rank could not take part; then no rank has a site. If little is known of the
 * machine (a flat network, one level a node), one warning says so. */
bool nw_discover(struct nw_site *site, MPI_Comm comm);
void nw_discovered_free(struct nw_site *site);

#endif

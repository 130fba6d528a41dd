/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting that lets others run, where ranks share cores. */
#ifndef NW_HALO_EXCHANGE_YIELDING_COLLECTIVES_H
#define NW_HALO_EXCHANGE_YIELDING_COLLECTIVES_H

#include "halo/exchange/exchange.h"

/* As MPI's; the caller's errors are MPI codes. */
int nw_halo_allreduce(MPI_Comm comm, const void *own, void *out, int count,
                      MPI_Datatype type, MPI_Op op);
int nw_halo_barrier(MPI_Comm comm);
int nw_halo_waitall(int count, MPI_Request *request);
/* Messages that are still under way after a failure, when a connection closes:
 * a peer that was only late may send yet, and nothing of it may come into
 * memory that is somebody else's by then. False where one cannot be stopped:
 * then its buffer has to stay. */
bool nw_halo_give_up(int count, MPI_Request *request, bool receives);
/* Whether a node has more ranks than cores that they may run on. Collective
 * over all ranks of the node. */
int nw_halo_crowd_find(MPI_Comm node, bool *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI calls that yield the core while they wait, for ranks that share cores. */
#ifndef NW_HALO_EXCHANGE_YIELDING_COLLECTIVES_H
#define NW_HALO_EXCHANGE_YIELDING_COLLECTIVES_H

#include "halo/exchange/exchange.h"

/* nw_halo_allreduce, nw_halo_barrier and nw_halo_waitall do the same as the MPI
 * functions of their names, without statuses, and return MPI error codes. */
int nw_halo_allreduce(MPI_Comm comm, const void *own, void *out, int count,
                      MPI_Datatype type, MPI_Op op);
int nw_halo_barrier(MPI_Comm comm);
int nw_halo_waitall(int count, MPI_Request *request);
/* Sets *out to true if all ranks pass the same value, else to false; it is
 * equal on all ranks. Returns an MPI error code. Collective. */
int nw_halo_is_equal(MPI_Comm comm, uint64_t value, bool *out);
/* Gives up the messages of a connection that closes; they are pending only
 * after a failure. Cancels pending receives: a late peer could still send, and
 * its message must not reach memory that serves something else. Returns false
 * and sets halo->has_pending if a receive cannot be cancelled within 0.1 s, or
 * if a send is pending; then the buffer must not be freed. */
bool nw_halo_give_up(struct nw_halo_connection *connection, int count,
                     MPI_Request *request, bool receives);
/* Sets *out to true if the node has more ranks than CPUs (hardware threads) on
 * which these ranks may run, else to false. Returns an MPI error code.
 * Collective over the ranks of the node. */
int nw_halo_find_oversubscribed(MPI_Comm node, bool *out);

#endif

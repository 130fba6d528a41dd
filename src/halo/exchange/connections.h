/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes all connections of a scheme together. */
#ifndef NW_HALO_EXCHANGE_CONNECTIONS_H
#define NW_HALO_EXCHANGE_CONNECTIONS_H

#include "halo/exchange/exchange.h"

/* Makes and opens all connections of a scheme. A failure on one rank is
 * returned on all ranks, and then no connection stays open. Collective. */
nw_status nw_halo_connections_open(nw_halo *halo,
                                   const struct nw_halo_scheme *scheme);
/* Closes all open connections of the halo; it may have none. Collective over
 * the node. */
void nw_halo_connections_close(nw_halo *halo);

/* The connections of a scheme and the state that belongs to them.
 * nw_halo_set_swap exchanges them with those of the halo, so that several
 * schemes can be open while they are compared. */
struct nw_halo_set {
    struct nw_halo_scheme scheme;
    struct nw_halo_transfers transfers;
    struct nw_halo_connection *connection;
    size_t connection_count;
    int phase_count;
    void *segment;
    struct nw_halo_aggregates *aggregates;
};
void nw_halo_set_swap(nw_halo *halo, struct nw_halo_set *set);

/* Returns a scheme with the same methods (bits) for all classes. */
struct nw_halo_scheme nw_halo_scheme_all(bool phased, uint32_t methods);

/* Opens a process descriptor (pidfd) of each other process of this node with
 * which this rank has a connection; it shows when that process ends. A process
 * for which the kernel gives no descriptor is not watched. */
nw_status nw_halo_watch_open(nw_halo *halo);
/* Returns NW_EMPI if a process that nw_halo_watch_open watches has ended, with
 * its rank in the error text; else NW_OK. */
nw_status nw_halo_watch_check(const nw_halo *halo);
/* Returns NW_EMPI, with an error text that the process of `rank` has ended. */
nw_status nw_halo_watch_ended(int rank);
void nw_halo_watch_close(nw_halo *halo);

/* Sends the error of this rank's part of an exchange to every peer; if there
 * are aggregates (nodes.h), also to all ranks of this node. Does nothing if the
 * plan is already broken by an earlier error. */
void nw_halo_failure_tell(nw_halo *halo, nw_status status);
/* Returns the error that another rank has sent by nw_halo_failure_tell; NW_OK
 * if none has arrived. */
nw_status nw_halo_failure_hear(const nw_halo *halo);
/* Frees the halo's own struct. If this rank has sent a failure, keeps the
 * struct until the process ends, because MPI may still read the message. */
void nw_halo_failure_free(nw_halo *halo);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes all connections of a scheme together. */
#ifndef NW_HALO_EXCHANGE_CONNECTIONS_H
#define NW_HALO_EXCHANGE_CONNECTIONS_H

#include "halo/exchange/exchange.h"

/* Makes and opens all connections of a scheme. A failure on one rank is
 * returned on all ranks, and then no connection stays open. Collective. */
nw_status nw_halo_connections_open(nw_halo *halo,
                                   const struct nw_halo_scheme *scheme);
/* Closes all connections. Collective over the node. */
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

/* Returns a scheme that allows every method for all pairs. `phased` is true for
 * exchanges in phases. */
struct nw_halo_scheme nw_halo_scheme_any(bool phased);

/* The schemes that a measurement compares. */
struct nw_halo_rivals {
    const struct nw_halo_scheme *scheme;
    size_t count;
    /* If true, the first scheme is kept unless another is certainly faster. */
    bool holder;
    double seconds; /* time limit, but one round is always run */
};
/* Compares the schemes by measuring exchanges of the current arrays, and leaves
 * the fastest scheme open. Sets *spent to the seconds that this took, equal on
 * all ranks. Collective. */
nw_status nw_halo_tune(nw_halo *halo, const struct nw_halo_rivals *rivals,
                       double *spent);
/* Finds the fastest scheme by measurement and leaves it open. allowed[0]
 * permits schemes that exchange all directions at once; allowed[1] permits
 * schemes that exchange axis by axis in phases. Collective. */
nw_status nw_halo_measure(nw_halo *halo, const bool allowed[2]);

/* Looks up an earlier choice for this machine and domain. Rank 0 reads it from
 * `file`, or from the file in the user's cache if `file` is NULL. Sets *found
 * to true and *out to the scheme if there is one, else *found to false.
 * Collective. */
nw_status nw_halo_cache_read(nw_halo *halo, const char *file,
                             struct nw_halo_scheme *out, bool *found);
/* Writes halo->scheme to the file. An error is ignored, since the choice can be
 * measured again. Local; call it on rank 0 only. */
void nw_halo_cache_write(const nw_halo *halo, const char *file);

/* Sets halo->methods to those of the `allowed` methods (bits) that all ranks
 * can use. Collective. */
nw_status nw_halo_methods_find(nw_halo *halo, uint32_t allowed);
/* Chooses a scheme as the options ask, and opens its connections. Collective.
 */
nw_status nw_halo_choose(nw_halo *halo, const struct nw_halo_options *options);

/* Opens a process descriptor (pidfd) of each other process of this node, which
 * shows when that process ends. */
nw_status nw_halo_watch_open(nw_halo *halo);
/* Returns NW_EMPI if a process of this node has ended, with its rank in the
 * error text; else NW_OK. */
nw_status nw_halo_watch_check(const nw_halo *halo);
void nw_halo_watch_close(nw_halo *halo);

/* Sends the error of this rank's part of an exchange to every peer. Later calls
 * do nothing. */
void nw_halo_failure_tell(nw_halo *halo, nw_status status);
/* Returns the error that a peer has sent; NW_OK if no peer has sent an error.
 */
nw_status nw_halo_failure_hear(const nw_halo *halo);

#endif

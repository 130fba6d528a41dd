/* SPDX-License-Identifier: BSD-3-Clause */
/* The connections of a scheme, opened and closed as a whole. */
#ifndef NW_HALO_EXCHANGE_CONNECTIONS_H
#define NW_HALO_EXCHANGE_CONNECTIONS_H

#include "halo/exchange/exchange.h"

/* Makes and opens all connections of a scheme; nothing is left open after a
 * failure, which is one of all ranks. Collective. */
nw_status nw_halo_connections_open(nw_halo *halo,
                                   const struct nw_halo_scheme *scheme);
/* Collective over the node. */
void nw_halo_connections_close(nw_halo *halo);

/* All that belongs to an open scheme, set aside while another is tried. */
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

/* Any method for all pairs. */
struct nw_halo_scheme nw_halo_scheme_any(bool phased);

/* Schemes for a contest. */
struct nw_halo_rivals {
    const struct nw_halo_scheme *scheme;
    size_t count;
    bool holder;    /* the first stays unless it is beaten beyond doubt */
    double seconds; /* it may take, opening included: a round is always run */
};
/* Measures them against each other on the arrays as they are and leaves the
 * best one open; *spent: seconds, the same on all ranks. Collective. */
nw_status nw_halo_tune(nw_halo *halo, const struct nw_halo_rivals *rivals,
                       double *spent);
/* Finds the best scheme of these schedules by contests, and leaves it open.
 * Collective. */
nw_status nw_halo_measure(nw_halo *halo, bool once, bool phases);

/* A choice made earlier on this machine for this shape, from a file that rank
 * 0 reads; *found says whether there was one. `file` NULL: the user's own.
 * Collective. */
nw_status nw_halo_cache_read(nw_halo *halo, const char *file,
                             struct nw_halo_scheme *out, bool *found);
/* Remembers halo->scheme; a file that cannot be written is no failure. Local,
 * for rank 0. */
void nw_halo_cache_write(const nw_halo *halo, const char *file);

/* Sets halo->methods to those that all ranks allow and can use. Collective. */
nw_status nw_halo_methods_find(nw_halo *halo, uint32_t allowed);
/* Opens the connections of the scheme that the options ask for. Collective. */
nw_status nw_halo_choose(nw_halo *halo, const struct nw_halo_options *options);

/* Descriptors that tell when a process of this node ended. */
nw_status nw_halo_watch_open(nw_halo *halo);
/* NW_EMPI with the rank where one is gone. */
nw_status nw_halo_watch_check(const nw_halo *halo);
void nw_halo_watch_close(nw_halo *halo);

/* Tells every peer that this rank's part of an exchange failed, once; hears
 * whether one has told us, which is then our failure. */
void nw_halo_failure_tell(nw_halo *halo, nw_status status);
nw_status nw_halo_failure_hear(const nw_halo *halo);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A time line of exchanges, written to a file if NODEWISE_HALO_TRACE is set. */
#ifndef NW_HALO_EXCHANGE_TRACE_H
#define NW_HALO_EXCHANGE_TRACE_H

#include "halo/exchange/exchange.h"

enum nw_halo_act {
    NW_HALO_ACT_START,  /* `start` of a connection: packs, copies or sends */
    NW_HALO_ACT_FINISH, /* last `test` of a connection, for example unpacks or
                           copies */
    NW_HALO_ACT_WAY,    /* time from a connection's start to its end */
    NW_HALO_ACT_CALLER, /* time between two calls of the halo */
    NW_HALO_ACT_COUNT
};

/* Allocates memory for the events if NODEWISE_HALO_TRACE is set and not empty.
 */
nw_status nw_halo_trace_open(nw_halo *halo);
/* Returns the time in ns, or 0 if no trace is kept. */
uint64_t nw_halo_trace_now(const nw_halo *halo);
/* Adds an event that lasted from `since` (ns) until now; `connection` is NULL
 * for NW_HALO_ACT_CALLER. Does nothing if no trace is kept. Allocates nothing;
 * counts an event as left out if there is no more space. */
void nw_halo_trace_add(nw_halo *halo, enum nw_halo_act act,
                       struct nw_halo_connection *connection, uint64_t since);
/* Writes the events to the file FILE.RANK and frees them. FILE is the value of
 * NODEWISE_HALO_TRACE, and RANK the rank in MPI_COMM_WORLD; the second and
 * later halos of a process append ".2" and so on. Only warns if the file cannot
 * be written. Does nothing if no trace is kept. */
void nw_halo_trace_close(nw_halo *halo);

#endif

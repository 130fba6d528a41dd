/* SPDX-License-Identifier: BSD-3-Clause */
/* A time line of exchanges, written to a file if NODEWISE_HALO_TRACE is set. */
#ifndef NW_HALO_EXCHANGE_TRACE_H
#define NW_HALO_EXCHANGE_TRACE_H

#include "halo/exchange/exchange.h"

enum nw_halo_act {
    NW_HALO_ACT_START,  /* `start` of a connection: packs, copies or sends */
    NW_HALO_ACT_FINISH, /* its last `test`: unpacks or copies */
    NW_HALO_ACT_WAY,    /* time from a connection's start to its end */
    NW_HALO_ACT_CALLER, /* time between two calls of the halo */
    NW_HALO_ACT_COUNT
};

/* Allocates memory for the events if NODEWISE_HALO_TRACE is set. */
nw_status nw_halo_trace_open(nw_halo *halo);
/* Returns the time in ns, or 0 if no trace is kept. */
uint64_t nw_halo_trace_now(const nw_halo *halo);
/* Adds an event that lasted from `since` (ns) until now. `connection` may be
 * NULL. Allocates nothing; drops the event if there is no more space. */
void nw_halo_trace_add(nw_halo *halo, enum nw_halo_act act,
                       struct nw_halo_connection *connection, uint64_t since);
/* Writes the events to the file FILE.RANK, where FILE is the value of
 * NODEWISE_HALO_TRACE. Ignores a file that cannot be written. */
void nw_halo_trace_close(nw_halo *halo);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What an exchange does when, for pictures: NODEWISE_HALO_TRACE. */
#ifndef NW_HALO_EXCHANGE_TRACE_H
#define NW_HALO_EXCHANGE_TRACE_H

#include "halo/exchange/exchange.h"

enum nw_halo_act {
    NW_HALO_ACT_START,  /* a connection packs, copies or sends */
    NW_HALO_ACT_FINISH, /* its last test: unpacks, or copies */
    NW_HALO_ACT_WAY,    /* from its start to its end */
    NW_HALO_ACT_CALLER, /* between nw_halo_start and the next call */
    NW_HALO_ACT_COUNT
};

/* Room for what will be kept, where the variable is set. */
nw_status nw_halo_trace_open(nw_halo *halo);
/* The time, 0 where nothing is kept. */
uint64_t nw_halo_trace_now(const nw_halo *halo);
/* From `since` until now; `connection` may be NULL. Nothing is allocated; what
 * finds no room is left out. */
void nw_halo_trace_add(nw_halo *halo, enum nw_halo_act act,
                       struct nw_halo_connection *connection, uint64_t since);
/* Writes FILE.RANK; a file that cannot be written is no failure. */
void nw_halo_trace_close(nw_halo *halo);

#endif

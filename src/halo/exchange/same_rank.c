/* SPDX-License-Identifier: BSD-3-Clause */
/* The method NW_HALO_SELF, between pieces of one rank in host memory: plain
 * copies. */
#include "halo/exchange/exchange.h"

#include <stdlib.h>

static bool same_rank_fits(const nw_halo *halo, const struct nw_halo_pair *pair)
{
    (void)halo;
    return pair->same_rank;
}

static nw_status same_rank_open(struct nw_halo_connection *connection,
                                struct nw_halo_offer *own)
{
    struct nw_halo_copy_plan *moves = NULL;
    nw_status status = nw_alloc(1, sizeof *moves, &moves);

    (void)own;
    connection->state = moves;
    return status ? status : nw_halo_moves_make(connection, NW_HALO_OWN, moves);
}

static nw_status same_rank_start(struct nw_halo_connection *connection)
{
    nw_halo_moves_run(connection, connection->state);
    return NW_OK;
}

static nw_status same_rank_test(struct nw_halo_connection *connection,
                                bool *done)
{
    (void)connection;
    *done = true;
    return NW_OK;
}

static void same_rank_close_connection(struct nw_halo_connection *connection)
{
    if (connection->state)
        nw_halo_copy_plan_fini(connection->state);
    free(connection->state);
    connection->state = NULL;
}

const struct nw_halo_method_ops nw_halo_same_rank = {
    .id = NW_HALO_SELF,
    .fits = same_rank_fits,
    .open = same_rank_open,
    .start = same_rank_start,
    .test = same_rank_test,
    .close = same_rank_close_connection,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* The method NW_HALO_DIRECT, between ranks of one node with arrays in shared
 * memory. The receiver copies the neighbour's cells directly into its ghost
 * cells, without a buffer. One counter says that the source cells may be read,
 * the other that they were read. */
#include "halo/exchange/exchange.h"

#include <stdatomic.h>
#include <stdlib.h>

struct direct_flags {
    /* number of exchanges whose source cells are ready */
    _Alignas(64) _Atomic uint64_t ready;
    /* number of exchanges whose source cells were read */
    _Alignas(64) _Atomic uint64_t read;
};

struct exchange_direct {
    struct nw_halo_copy_plan moves;
    /* position of the flags, in the sender's segment */
    struct nw_halo_spot spot;
    struct direct_flags *flags;
    uint64_t count; /* number of exchanges started by this end */
};

static bool halo_direct_here(nw_halo *halo)
{
    size_t count = (size_t)halo->layout->piece_count * halo->quantity_count;

    for (size_t i = 0; i < count; i++) {
        int rank = halo->layout->piece[i / halo->quantity_count].rank;

        if (halo->node_of[rank] == halo->node_of[halo->rank] &&
            !halo->remote[i].mapped)
            return false;
    }
    return true;
}

static nw_status halo_direct_open(struct nw_halo_connection *connection,
                                  struct nw_halo_offer *own)
{
    struct exchange_direct *direct = NULL;
    nw_status status = nw_alloc(1, sizeof *direct, &direct);

    connection->state = direct;
    if (!status && connection->receives)
        status = nw_halo_moves_make(connection, NW_HALO_MAPPED, &direct->moves);
    if (!status && connection->sends)
        status = nw_halo_segment_reserve(
            connection->halo, sizeof(struct direct_flags), &direct->spot);
    if (!status)
        *(struct nw_halo_spot *)(void *)own->bytes = direct->spot;
    return status;
}

static nw_status halo_direct_join(struct nw_halo_connection *connection,
                                  const struct nw_halo_offer *other)
{
    struct exchange_direct *direct = connection->state;

    if (connection->receives)
        direct->spot = *(const struct nw_halo_spot *)(const void *)other->bytes;
    direct->flags = nw_halo_segment_at(connection->halo, &direct->spot);
    return NW_OK;
}

static nw_status halo_direct_start(struct nw_halo_connection *connection)
{
    struct exchange_direct *direct = connection->state;

    direct->count++;
    if (connection->sends)
        atomic_store_explicit(&direct->flags->ready, direct->count,
                              memory_order_release);
    return NW_OK;
}

static nw_status halo_direct_test(struct nw_halo_connection *connection,
                                  bool *done)
{
    struct exchange_direct *direct = connection->state;
    struct direct_flags *flags = direct->flags;

    if (connection->sends) {
        *done = atomic_load_explicit(&flags->read, memory_order_acquire) >=
                direct->count;
        return NW_OK;
    }
    *done = atomic_load_explicit(&flags->ready, memory_order_acquire) >=
            direct->count;
    if (*done) {
        nw_halo_moves_run(connection, &direct->moves);
        atomic_store_explicit(&flags->read, direct->count,
                              memory_order_release);
    }
    return NW_OK;
}

static void halo_direct_close_connection(struct nw_halo_connection *connection)
{
    struct exchange_direct *direct = connection->state;

    if (direct)
        nw_halo_copy_plan_fini(&direct->moves);
    free(direct);
    connection->state = NULL;
}

const struct nw_halo_method_ops nw_halo_direct = {
    .id = NW_HALO_DIRECT,
    .here = halo_direct_here,
    .fits = nw_halo_fits_node,
    .open = halo_direct_open,
    .join = halo_direct_join,
    .start = halo_direct_start,
    .test = halo_direct_test,
    .close = halo_direct_close_connection,
};

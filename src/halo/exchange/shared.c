/* SPDX-License-Identifier: BSD-3-Clause */
/* The method NW_HALO_SHARED, between ranks of one node: the sender packs into a
 * buffer in shared memory, and the receiver unpacks from it. There are two
 * buffers, which are used in turn, so that the sender may be one exchange
 * ahead. */
#include "halo/exchange/exchange.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Each flag has its own cache line and is written by one end only. */
struct shared_flags {
    _Alignas(64) _Atomic uint64_t packed;   /* number of exchanges packed */
    _Alignas(64) _Atomic uint64_t unpacked; /* number of exchanges unpacked */
};

struct shared {
    struct nw_halo_copy_plan packs;
    /* position of the counters, followed by two buffers */
    struct nw_halo_spot spot;
    struct shared_flags *flags;
    char *buffer[2];
    uint64_t count; /* number of exchanges started by this end */
    bool packed;    /* sender: the cells of this exchange are packed */
};

static size_t buffer_bytes(const struct nw_halo_connection *connection)
{
    return (connection->bytes + 63) / 64 * 64;
}

static nw_status shared_open(struct nw_halo_connection *connection,
                             struct nw_halo_offer *own)
{
    struct shared *shared = NULL;
    nw_status status = nw_alloc(1, sizeof *shared, &shared);

    connection->state = shared;
    if (!status)
        status = nw_halo_copy_plan_make(connection, connection->receives,
                                        &shared->packs);
    if (!status && connection->sends)
        status = nw_halo_segment_reserve(connection->halo,
                                         sizeof(struct shared_flags) +
                                             2 * buffer_bytes(connection),
                                         &shared->spot);
    if (!status)
        *(struct nw_halo_spot *)(void *)own->bytes = shared->spot;
    return status;
}

static nw_status shared_join(struct nw_halo_connection *connection,
                             const struct nw_halo_offer *other)
{
    struct shared *shared = connection->state;
    char *at;

    if (connection->receives)
        shared->spot = *(const struct nw_halo_spot *)(const void *)other->bytes;
    at = nw_halo_segment_at(connection->halo, &shared->spot);
    shared->flags = (struct shared_flags *)(void *)at;
    shared->buffer[0] = at + sizeof(struct shared_flags);
    shared->buffer[1] = shared->buffer[0] + buffer_bytes(connection);
    return NW_OK;
}

/* Packs the cells and returns true if the buffer of this exchange is free: the
 * receiver has unpacked the exchange before the previous one. Otherwise returns
 * false. */
static bool try_pack(struct nw_halo_connection *connection)
{
    struct shared *shared = connection->state;

    if (atomic_load_explicit(&shared->flags->unpacked, memory_order_acquire) +
            2 <
        shared->count)
        return false;
    nw_halo_copy_plan_pack(connection, &shared->packs,
                           shared->buffer[shared->count & 1]);
    atomic_store_explicit(&shared->flags->packed, shared->count,
                          memory_order_release);
    return true;
}

static nw_status shared_start(struct nw_halo_connection *connection)
{
    struct shared *shared = connection->state;

    shared->count++;
    shared->packed = connection->sends && try_pack(connection);
    return NW_OK;
}

static bool try_unpack(struct nw_halo_connection *connection)
{
    struct shared *shared = connection->state;

    if (atomic_load_explicit(&shared->flags->packed, memory_order_acquire) <
        shared->count)
        return false;
    nw_halo_copy_plan_unpack(connection, &shared->packs,
                             shared->buffer[shared->count & 1]);
    atomic_store_explicit(&shared->flags->unpacked, shared->count,
                          memory_order_release);
    return true;
}

static nw_status shared_test(struct nw_halo_connection *connection, bool *done)
{
    struct shared *shared = connection->state;

    if (!connection->sends)
        *done = try_unpack(connection);
    else
        *done = shared->packed = shared->packed || try_pack(connection);
    return NW_OK;
}

static void shared_close_connection(struct nw_halo_connection *connection)
{
    struct shared *shared = connection->state;

    if (shared)
        nw_halo_copy_plan_fini(&shared->packs);
    free(shared);
    connection->state = NULL;
}

const struct nw_halo_method_ops nw_halo_shared = {
    .id = NW_HALO_SHARED,
    .fits = nw_halo_fits_node,
    .open = shared_open,
    .join = shared_join,
    .start = shared_start,
    .test = shared_test,
    .close = shared_close_connection,
};

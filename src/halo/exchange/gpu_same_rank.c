/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Methods between pieces of one rank in GPU memory (Pearson et al., "Node-aware
 * stencil communication", section III-C). All work is queued in streams when
 * the exchange starts. The method NW_HALO_KERNEL, inside one GPU, is one
 * kernel. The method NW_HALO_PEER, between two GPUs or inside one, is a packing
 * kernel, a copy and an unpacking kernel. Two other methods are in
 * gpus_direct.c: one kernel that writes the other GPU's ghost cells, and 3-D
 * copies.
 */
#include "halo/exchange/gpus_direct.h"

#include <stdlib.h>

static bool kernel_fits(const nw_halo *halo, const struct nw_halo_pair *pair)
{
    (void)halo;
    return pair->same_rank && pair->same_gpu;
}

static bool peer_fits(const nw_halo *halo, const struct nw_halo_pair *pair)
{
    (void)halo;
    return pair->same_rank;
}

struct peer {
    struct nw_halo_gpu_queue from, to;
    void *packed, *arrived;
};

static nw_status open_from(struct nw_halo_connection *connection,
                           struct peer *peer)
{
    const nw_halo *halo = connection->halo;
    struct nw_halo_task task = {.work = NW_GPU_PACK};
    size_t bytes = nw_halo_dense_bytes(connection);
    nw_status status = nw_halo_gpu_queue_open(halo, connection->transfer->from,
                                              false, &peer->from);

    if (!status)
        status = nw_halo_gpu(halo)->alloc(bytes, &peer->packed);
    task.buffer = peer->packed;
    if (!status)
        status = nw_halo_gpu_queue_prepare(connection, &task, &peer->from);
    peer->from.copy_to = peer->arrived;
    peer->from.copy_from = peer->packed;
    if (!status)
        nw_halo_gpu_queue_record(connection, &peer->from);
    return status;
}

static nw_status open_to(struct nw_halo_connection *connection,
                         struct peer *peer)
{
    const nw_halo *halo = connection->halo;
    struct nw_halo_task task = {.work = NW_GPU_UNPACK};
    size_t bytes = nw_halo_dense_bytes(connection);
    nw_status status = nw_halo_gpu_queue_open(halo, connection->transfer->to,
                                              false, &peer->to);

    if (!status)
        status = nw_halo_gpu(halo)->alloc(bytes, &peer->arrived);
    task.buffer = peer->arrived;
    if (!status)
        status = nw_halo_gpu_queue_prepare(connection, &task, &peer->to);
    if (!status)
        nw_halo_gpu_queue_record(connection, &peer->to);
    return status;
}

static nw_status open_peer(struct nw_halo_connection *connection,
                           struct nw_halo_offer *own)
{
    struct peer *peer = NULL;
    nw_status status = nw_alloc(1, sizeof *peer, &peer);

    (void)own;
    connection->state = peer;
    if (!status)
        status = open_to(connection, peer);
    if (!status)
        status = open_from(connection, peer);
    return status;
}

static nw_status start_peer(struct nw_halo_connection *connection)
{
    const nw_halo *halo = connection->halo;
    const struct nw_gpu *gpu = nw_halo_gpu(halo);
    struct peer *peer = connection->state;
    nw_status status =
        nw_halo_gpu_queue_join(halo, &peer->from, connection->transfer->from);

    if (!status)
        status = nw_halo_gpu_queue_run(connection, &peer->from);
    if (!status)
        status = nw_halo_gpu_queue_finish(halo, &peer->from);
    if (!status)
        status = gpu->select(peer->to.device);
    if (!status)
        status = gpu->event_join(peer->from.done, peer->to.stream);
    if (!status)
        status =
            nw_halo_gpu_queue_join(halo, &peer->to, connection->transfer->to);
    if (!status)
        status = nw_halo_gpu_queue_run(connection, &peer->to);
    return status ? status : nw_halo_gpu_queue_finish(halo, &peer->to);
}

static nw_status test_peer(struct nw_halo_connection *connection, bool *done)
{
    struct peer *peer = connection->state;

    return nw_halo_gpu_queue_test(connection->halo, &peer->to, done);
}

static void close_peer(struct nw_halo_connection *connection)
{
    struct peer *peer = connection->state;
    const struct nw_gpu *gpu = nw_halo_gpu(connection->halo);

    if (!peer)
        return;
    nw_halo_gpu_queue_close(connection->halo, &peer->from);
    nw_halo_gpu_queue_close(connection->halo, &peer->to);
    gpu->free(peer->packed);
    gpu->free(peer->arrived);
    free(peer);
    connection->state = NULL;
}

const struct nw_halo_method_ops nw_halo_kernel = {
    .id = NW_HALO_KERNEL,
    .for_gpu = true,
    .fits = kernel_fits,
    .open = nw_halo_open_direct,
    .start = nw_halo_start_direct,
    .test = nw_halo_test_direct,
    .leave = nw_halo_leave_direct,
    .close = nw_halo_close_direct,
};

const struct nw_halo_method_ops nw_halo_peer = {
    .id = NW_HALO_PEER,
    .for_gpu = true,
    .fits = peer_fits,
    .open = open_peer,
    .start = start_peer,
    .test = test_peer,
    .close = close_peer,
};

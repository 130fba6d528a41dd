/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Methods in which the GPU of the source cells writes the ghost cells directly,
 * by one kernel or by 3-D copies, without a buffer. Inside one rank, all work
 * is queued when the exchange starts. Between two ranks of a node, the receiver
 * first sets a counter in shared memory: its event `ready`, after which its
 * caller no longer uses the ghost cells, is recorded. The sender's stream waits
 * for this event, and the sender sets another counter when the writes are
 * queued.
 */
#include "halo/exchange/gpus_direct.h"
#include "halo/exchange/gpus_flags.h"

#include <stdlib.h>

struct exchange_gpus_direct {
    /* stream and kernels; only the sender uses it */
    struct nw_halo_gpu_queue queue;
    nw_gpu_event other; /* sender: `ready` of the target piece, of the other
                           rank; receiver: `done` of the sender's queue */
    /* position of the flags, in the receiver's segment */
    struct nw_halo_spot spot;
    struct nw_halo_flags *flags;
    uint64_t count;
    bool launched;
};

struct gpus_direct_offer {
    struct nw_halo_spot spot;
    struct nw_halo_export done;
};

static bool gpus_direct_is_inside(const struct nw_halo_connection *connection)
{
    return connection->sends && connection->receives;
}

static enum nw_halo_whose
gpus_direct_whose(const struct nw_halo_connection *connection)
{
    return gpus_direct_is_inside(connection) ? NW_HALO_OWN : NW_HALO_MAPPED;
}

/* --- 3-D copies --- */

static bool is_copied(const struct nw_halo_connection *connection)
{
    return connection->ops->id == NW_HALO_PEER3D;
}

static nw_status copy_one(const struct nw_halo_connection *connection,
                          const struct exchange_gpus_direct *direct,
                          const struct nw_halo_transfer *transfer,
                          int32_t field)
{
    const nw_halo *halo = connection->halo;
    struct nw_halo_ending end = {transfer, &halo->field[field], false};
    struct nw_halo_view from = nw_halo_view_of(halo, &end, NW_HALO_OWN), to;
    struct nw_gpu_copy copy = {.row_bytes = (size_t)transfer->extent[0] *
                                            end.field->bytes,
                               .rows = (size_t)transfer->extent[1],
                               .planes = (size_t)transfer->extent[2]};

    end.target = true;
    to = nw_halo_view_of(halo, &end, gpus_direct_whose(connection));
    copy.from = from.at;
    copy.to = to.at;
    copy.from_row = (size_t)from.step[1];
    copy.from_plane = (size_t)from.step[2];
    copy.to_row = (size_t)to.step[1];
    copy.to_plane = (size_t)to.step[2];
    copy.from_gpu = copy.to_gpu = direct->queue.device;
    if (gpus_direct_is_inside(connection))
        copy.to_gpu = nw_halo_device(halo, transfer->to);
    return nw_halo_gpu(halo)->copy_box(&copy, direct->queue.stream);
}

/* Returns true if 3-D copies can serve the connection. They need cells that are
 * contiguous along a row and in forward order. Otherwise a kernel does the
 * copies. */
static bool can_copy(const struct nw_halo_connection *connection)
{
    const nw_halo *halo = connection->halo;

    for (int32_t f = 0; f < halo->field_count; f++)
        if (halo->field[f].bytes != halo->field[f].stride)
            return false;
    for (size_t i = 0; i < connection->count; i++)
        if (connection->transfer[i].mirror)
            return false;
    return true;
}

static nw_status copy_all(const struct nw_halo_connection *connection,
                          const struct exchange_gpus_direct *direct)
{
    const nw_halo *halo = connection->halo;
    nw_status status = nw_halo_gpu(halo)->select(direct->queue.device);

    for (size_t i = 0; i < connection->count; i++)
        for (int32_t a = 0; !status && a < halo->active_count; a++)
            status = copy_one(connection, direct, &connection->transfer[i],
                              halo->active[a]);
    return status;
}

/* --- opening --- */

static nw_status gpus_direct_prepare(struct nw_halo_connection *connection)
{
    struct exchange_gpus_direct *direct = connection->state;
    const nw_halo *halo = connection->halo;
    struct nw_halo_task task = {.work = NW_GPU_MOVE,
                                .whose = gpus_direct_whose(connection)};
    int32_t to = gpus_direct_is_inside(connection)
                     ? nw_halo_device(halo, connection->transfer->to)
                     : direct->queue.device;
    nw_status status = nw_halo_gpu(halo)->select(direct->queue.device);

    if (is_copied(connection) && can_copy(connection))
        return status;
    if (!status && to != direct->queue.device)
        status = nw_halo_gpu(halo)->enable_peer_access(to);
    if (!status)
        status = nw_halo_gpu_queue_prepare(connection, &task, &direct->queue);
    if (!status)
        nw_halo_gpu_queue_record(connection, &direct->queue);
    return status;
}

static nw_status open_sender(struct nw_halo_connection *connection,
                             struct exchange_gpus_direct *direct,
                             struct gpus_direct_offer *offer)
{
    const nw_halo *halo = connection->halo;
    bool inside = gpus_direct_is_inside(connection);
    nw_status status = nw_halo_gpu_queue_open(halo, connection->transfer->from,
                                              !inside, &direct->queue);

    if (!status && inside)
        return gpus_direct_prepare(connection);
    if (!status)
        status = nw_halo_gpu(halo)->event_export(direct->queue.done,
                                                 &offer->done.handle);
    return status;
}

nw_status nw_halo_open_direct(struct nw_halo_connection *connection,
                              struct nw_halo_offer *own)
{
    struct gpus_direct_offer *offer =
        (struct gpus_direct_offer *)(void *)own->bytes;
    struct exchange_gpus_direct *direct = NULL;
    nw_status status = nw_alloc(1, sizeof *direct, &direct);

    connection->state = direct;
    if (!status && connection->sends)
        status = open_sender(connection, direct, offer);
    if (!status && connection->receives && !connection->sends)
        status = nw_halo_segment_reserve(connection->halo,
                                         sizeof *direct->flags, &direct->spot);
    if (!status)
        offer->spot = direct->spot;
    return status;
}

static nw_status gpus_direct_join(struct nw_halo_connection *connection,
                                  const struct nw_halo_offer *other)
{
    const struct gpus_direct_offer *offer =
        (const struct gpus_direct_offer *)(const void *)other->bytes;
    struct exchange_gpus_direct *direct = connection->state;
    nw_halo *halo = connection->halo;
    nw_status status;

    if (connection->sends) {
        direct->spot = offer->spot;
        status = nw_halo_peers_map(connection);
        if (!status)
            status = nw_halo_peers_event(halo, connection->transfer->to,
                                         &direct->other);
        if (!status)
            status = gpus_direct_prepare(connection);
    } else {
        status = nw_halo_gpu(halo)->select(
            nw_halo_device(halo, connection->transfer->to));
        if (!status)
            status = nw_halo_gpu(halo)->event_import(&offer->done.handle,
                                                     &direct->other);
    }
    direct->flags = nw_halo_segment_at(halo, &direct->spot);
    return status;
}

/* --- exchanging --- */

static nw_status write_ghosts(struct nw_halo_connection *connection)
{
    struct exchange_gpus_direct *direct = connection->state;
    const nw_halo *halo = connection->halo;
    const struct nw_gpu *gpu = nw_halo_gpu(halo);
    struct nw_halo_gpu_queue *queue = &direct->queue;
    nw_status status = gpu->select(queue->device);

    if (!status)
        status =
            nw_halo_gpu_queue_join(halo, queue, connection->transfer->from);
    if (!status)
        status =
            gpus_direct_is_inside(connection)
                ? nw_halo_gpu_queue_join(halo, queue, connection->transfer->to)
                : gpu->event_join(direct->other, queue->stream);
    if (!status)
        status = queue->all ? nw_halo_gpu_queue_run(connection, queue)
                            : copy_all(connection, direct);
    if (!status)
        status = nw_halo_gpu_queue_finish(halo, queue);
    direct->launched = !status;
    return status;
}

/* Starts a new exchange. The receiver's `ready` event has already been
 * recorded, so the receiver sets the counter `free`. */
static nw_status gpus_direct_post(struct nw_halo_connection *connection)
{
    struct exchange_gpus_direct *direct = connection->state;

    direct->count++;
    direct->launched = false;
    if (!connection->sends)
        nw_halo_flag_set(&direct->flags->free, direct->count);
    return NW_OK;
}

static nw_status send_if_free(struct nw_halo_connection *connection)
{
    struct exchange_gpus_direct *direct = connection->state;
    nw_status status = NW_OK;

    if (direct->launched ||
        !nw_halo_flag_is(&direct->flags->free, direct->count))
        return NW_OK;
    status = write_ghosts(connection);
    if (!status)
        nw_halo_flag_set(&direct->flags->written, direct->count);
    return status;
}

nw_status nw_halo_start_direct(struct nw_halo_connection *connection)
{
    if (gpus_direct_is_inside(connection))
        return write_ghosts(connection);
    return connection->sends ? send_if_free(connection) : NW_OK;
}

nw_status nw_halo_test_direct(struct nw_halo_connection *connection, bool *done)
{
    struct exchange_gpus_direct *direct = connection->state;
    const nw_halo *halo = connection->halo;
    nw_status status = NW_OK;

    if (!connection->sends) {
        if (nw_halo_flag_is(&direct->flags->written, direct->count))
            status = nw_halo_gpu(halo)->event_test(direct->other, done);
        return status;
    }
    if (!gpus_direct_is_inside(connection))
        status = send_if_free(connection);
    if (!status && direct->launched)
        status = nw_halo_gpu_queue_test(halo, &direct->queue, done);
    return status;
}

/* Frees the receiver's `other`, an event that it imported. The sender's `other`
 * is one of the events of peers that the halo closes (nw_halo_peers_close). */
void nw_halo_leave_direct(struct nw_halo_connection *connection)
{
    struct exchange_gpus_direct *direct = connection->state;

    if (!direct || connection->sends)
        return;
    nw_halo_gpu(connection->halo)->event_free(direct->other);
    direct->other = NULL;
}

void nw_halo_close_direct(struct nw_halo_connection *connection)
{
    struct exchange_gpus_direct *direct = connection->state;

    if (!direct)
        return;
    nw_halo_gpu_queue_close(connection->halo, &direct->queue);
    free(direct);
    connection->state = NULL;
}

/* Returns true for two pieces of one rank if they are on one GPU or the
 * source's GPU can access the other one. Returns true for two ranks of one node
 * if the arrays of other processes can be opened. */
static bool gpus_direct_fits(const nw_halo *halo,
                             const struct nw_halo_pair *pair)
{
    const struct nw_halo_gpus *gpus = halo->gpus;

    if (!pair->same_rank)
        return pair->same_node && gpus->ipc_arrays;
    /* only the rank of the pieces knows their GPUs; other ranks do not use the
     * result */
    return pair->same_gpu || pair->from_rank != halo->rank ||
           gpus->gpu->can_access_peer(nw_halo_device(halo, pair->from),
                                      nw_halo_device(halo, pair->to));
}

const struct nw_halo_method_ops nw_halo_write = {
    .id = NW_HALO_WRITE,
    .for_gpu = true,
    .fits = gpus_direct_fits,
    .open = nw_halo_open_direct,
    .join = gpus_direct_join,
    .post = gpus_direct_post,
    .start = nw_halo_start_direct,
    .test = nw_halo_test_direct,
    .leave = nw_halo_leave_direct,
    .close = nw_halo_close_direct,
};

const struct nw_halo_method_ops nw_halo_peer3d = {
    .id = NW_HALO_PEER3D,
    .for_gpu = true,
    .fits = gpus_direct_fits,
    .open = nw_halo_open_direct,
    .join = gpus_direct_join,
    .post = gpus_direct_post,
    .start = nw_halo_start_direct,
    .test = nw_halo_test_direct,
    .leave = nw_halo_leave_direct,
    .close = nw_halo_close_direct,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The method NW_HALO_COLOCATED, between GPUs of two processes of one node,
 * without MPI (Pearson et al., "Node-aware stencil communication", figure 7b).
 * The sender packs and copies into the receiver's buffer by CUDA IPC; the
 * receiver unpacks. The ranks synchronise by two counters in shared memory. The
 * receiver's counter says that the buffer is free. The sender's counter says
 * that the copy, and an event after it, are queued in the sender's stream; the
 * receiver's stream then waits for this event.
 */
#include "halo/exchange/gpus.h"
#include "halo/exchange/gpus_flags.h"

#include <stdlib.h>

struct colocated {
    /* kernels that pack (sender) or unpack (receiver) */
    struct nw_halo_gpu_queue queue;
    void *buffer;
    /* sender: opened allocation with the receiver's buffer */
    void *opened;
    size_t offset;       /* offset of the buffer in this allocation, in bytes */
    nw_gpu_event copied; /* receiver: the sender's event after the copy */
    /* sender: event after packing; then the source cells may change */
    nw_gpu_event packed;
    struct nw_halo_spot spot;
    struct nw_halo_flags *flags;
    uint64_t count;
    bool launched; /* copy (sender) or unpacking (receiver) is queued */
};

struct gpu_ipc_write_offer {
    struct nw_halo_spot spot;
    struct nw_halo_export event, buffer;
};

static bool gpu_ipc_write_fits(const nw_halo *halo,
                               const struct nw_halo_pair *pair)
{
    return pair->same_node && !pair->same_rank && halo->gpus->ipc;
}

static nw_status make_offer(struct nw_halo_connection *connection,
                            struct gpu_ipc_write_offer *offer)
{
    struct colocated *colocated = connection->state;
    const struct nw_gpu *gpu = nw_halo_gpu(connection->halo);
    size_t offset = 0;
    nw_status status;

    if (connection->sends) {
        status = gpu->event_new(&colocated->packed);
        return status ? status
                      : gpu->event_export(colocated->queue.done,
                                          &offer->event.handle);
    }
    status =
        gpu->memory_export(colocated->buffer, &offer->buffer.handle, &offset);
    offer->buffer.offset = offset;
    if (!status)
        status = nw_halo_segment_reserve(
            connection->halo, sizeof *colocated->flags, &colocated->spot);
    offer->spot = colocated->spot;
    return status;
}

static nw_status gpu_ipc_write_open(struct nw_halo_connection *connection,
                                    struct nw_halo_offer *own)
{
    struct colocated *colocated = NULL;
    const nw_halo *halo = connection->halo;
    struct nw_halo_task task = {.work = connection->sends ? NW_GPU_PACK
                                                          : NW_GPU_UNPACK};
    int32_t piece = connection->sends ? connection->transfer->from
                                      : connection->transfer->to;
    nw_status status = nw_alloc(1, sizeof *colocated, &colocated);

    connection->state = colocated;
    if (!status)
        status = nw_halo_gpu_queue_open(halo, piece, connection->sends,
                                        &colocated->queue);
    if (!status)
        status = nw_halo_gpu(halo)->alloc(nw_halo_dense_bytes(connection),
                                          &colocated->buffer);
    task.buffer = colocated->buffer;
    if (!status)
        status =
            nw_halo_gpu_queue_prepare(connection, &task, &colocated->queue);
    if (!status)
        nw_halo_gpu_queue_record(connection, &colocated->queue);
    return status
               ? status
               : make_offer(connection,
                            (struct gpu_ipc_write_offer *)(void *)own->bytes);
}

static nw_status gpu_ipc_write_join(struct nw_halo_connection *connection,
                                    const struct nw_halo_offer *other)
{
    const struct gpu_ipc_write_offer *offer =
        (const struct gpu_ipc_write_offer *)(const void *)other->bytes;
    struct colocated *colocated = connection->state;
    nw_halo *halo = connection->halo;
    nw_status status = nw_halo_gpu(halo)->select(colocated->queue.device);

    if (connection->sends) {
        colocated->spot = offer->spot;
        colocated->offset = offer->buffer.offset;
        if (!status)
            status = nw_halo_gpu(halo)->memory_import(&offer->buffer.handle,
                                                      &colocated->opened);
    } else if (!status) {
        status = nw_halo_gpu(halo)->event_import(&offer->event.handle,
                                                 &colocated->copied);
    }
    colocated->flags = nw_halo_segment_at(halo, &colocated->spot);
    return status;
}

/* Starts a new exchange. The cells of the previous one are unpacked, so the
 * receiver marks its buffer as free. */
static nw_status gpu_ipc_write_post(struct nw_halo_connection *connection)
{
    struct colocated *colocated = connection->state;

    colocated->count++;
    colocated->launched = false;
    if (connection->receives)
        nw_halo_flag_set(&colocated->flags->free, colocated->count);
    return NW_OK;
}

static nw_status copy_if_free(struct nw_halo_connection *connection)
{
    struct colocated *colocated = connection->state;
    const struct nw_gpu *gpu = nw_halo_gpu(connection->halo);
    nw_status status = gpu->select(colocated->queue.device);

    if (colocated->launched ||
        !nw_halo_flag_is(&colocated->flags->free, colocated->count))
        return status;
    for (int32_t i = 0; !status && i < nw_halo_spans(connection); i++) {
        struct nw_halo_span span = nw_halo_span(connection, i);

        status = gpu->copy((char *)colocated->opened + colocated->offset +
                               span.offset,
                           (char *)colocated->buffer + span.offset, span.bytes,
                           colocated->queue.stream);
    }
    if (!status)
        status = nw_halo_gpu_queue_finish(connection->halo, &colocated->queue);
    if (!status) {
        colocated->launched = true;
        nw_halo_flag_set(&colocated->flags->written, colocated->count);
    }
    return status;
}

static nw_status gpu_ipc_write_start(struct nw_halo_connection *connection)
{
    struct colocated *colocated = connection->state;
    const nw_halo *halo = connection->halo;
    nw_status status;

    if (!connection->sends)
        return NW_OK;
    status = nw_halo_gpu(halo)->select(colocated->queue.device);
    if (!status)
        status = nw_halo_gpu_queue_join(halo, &colocated->queue,
                                        connection->transfer->from);
    if (!status)
        status = nw_halo_gpu_queue_run(connection, &colocated->queue);
    if (!status)
        status = nw_halo_gpu(halo)->event_record(colocated->packed,
                                                 colocated->queue.stream);
    return status ? status : copy_if_free(connection);
}

static nw_status gpu_ipc_write_unpack(struct nw_halo_connection *connection)
{
    struct colocated *colocated = connection->state;
    const nw_halo *halo = connection->halo;
    nw_status status = nw_halo_gpu(halo)->select(colocated->queue.device);

    if (!status)
        status = nw_halo_gpu_queue_join(halo, &colocated->queue,
                                        connection->transfer->to);
    if (!status)
        status = nw_halo_gpu(halo)->event_join(colocated->copied,
                                               colocated->queue.stream);
    if (!status)
        status = nw_halo_gpu_queue_run(connection, &colocated->queue);
    if (!status)
        status = nw_halo_gpu_queue_finish(halo, &colocated->queue);
    colocated->launched = !status;
    return status;
}

static nw_status gpu_ipc_write_test(struct nw_halo_connection *connection,
                                    bool *done)
{
    struct colocated *colocated = connection->state;
    const nw_halo *halo = connection->halo;
    nw_status status = NW_OK;

    if (connection->sends) {
        status = copy_if_free(connection);
        return !status && colocated->launched
                   ? nw_halo_gpu(halo)->event_test(colocated->packed, done)
                   : status;
    }
    if (!colocated->launched &&
        nw_halo_flag_is(&colocated->flags->written, colocated->count))
        status = gpu_ipc_write_unpack(connection);
    return !status && colocated->launched
               ? nw_halo_gpu_queue_test(halo, &colocated->queue, done)
               : status;
}

static void gpu_ipc_write_leave(struct nw_halo_connection *connection)
{
    struct colocated *colocated = connection->state;
    const struct nw_gpu *gpu = nw_halo_gpu(connection->halo);

    if (!colocated || !colocated->queue.stream ||
        gpu->select(colocated->queue.device))
        return;
    (void)gpu->stream_wait(colocated->queue.stream);
    if (colocated->opened)
        gpu->memory_close(colocated->opened);
    gpu->event_free(colocated->copied);
    colocated->opened = NULL;
    colocated->copied = NULL;
}

static void
gpu_ipc_write_close_connection(struct nw_halo_connection *connection)
{
    struct colocated *colocated = connection->state;
    const struct nw_gpu *gpu = nw_halo_gpu(connection->halo);

    if (!colocated)
        return;
    nw_halo_gpu_queue_close(connection->halo, &colocated->queue);
    gpu->event_free(colocated->packed);
    if (!connection->halo->peer_lost)
        gpu->free(colocated->buffer);
    free(colocated);
    connection->state = NULL;
}

const struct nw_halo_method_ops nw_halo_colocated = {
    .id = NW_HALO_COLOCATED,
    .for_gpu = true,
    .fits = gpu_ipc_write_fits,
    .open = gpu_ipc_write_open,
    .join = gpu_ipc_write_join,
    .post = gpu_ipc_write_post,
    .start = gpu_ipc_write_start,
    .test = gpu_ipc_write_test,
    .leave = gpu_ipc_write_leave,
    .close = gpu_ipc_write_close_connection,
};

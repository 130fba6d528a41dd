/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside a node between processes: pack, copy into the buffer that the receiver
 * has opened to us, unpack there; MPI has no part in it (figure 7b of the
 * paper). Two counters say that the buffer is free, and that the copy is in its
 * stream with an event behind it.
 */
#include "halo/exchange/gpus.h"
#include "halo/exchange/gpus_flags.h"

#include <stdlib.h>

struct colocated {
    struct nw_halo_lane lane; /* packing, or unpacking */
    void *buffer;
    void *opened;        /* sender: the allocation of the receiver's buffer */
    size_t offset;       /* of the buffer in it */
    nw_gpu_event copied; /* receiver: the sender's event */
    nw_gpu_event packed; /* sender: its cells may change */
    struct nw_halo_spot spot;
    struct nw_halo_flags *flags;
    uint64_t count;
    bool launched; /* the copy; the unpacking */
};

struct offer {
    struct nw_halo_spot spot;
    struct nw_halo_export event, buffer;
};

static bool fits(const nw_halo *halo, const struct nw_halo_pair *pair)
{
    return pair->same_node && !pair->same_rank && halo->gpus->ipc;
}

static nw_status make_offer(struct nw_halo_channel *channel,
                            struct offer *offer)
{
    struct colocated *colocated = channel->state;
    const struct nw_gpu *gpu = nw_halo_gpu(channel->halo);
    size_t offset = 0;
    nw_status status;

    if (channel->sends) {
        status = gpu->event_new(&colocated->packed);
        return status ? status
                      : gpu->event_export(colocated->lane.done,
                                          &offer->event.handle);
    }
    status =
        gpu->memory_export(colocated->buffer, &offer->buffer.handle, &offset);
    offer->buffer.offset = offset;
    if (!status)
        status = nw_halo_segment_reserve(
            channel->halo, sizeof *colocated->flags, &colocated->spot);
    offer->spot = colocated->spot;
    return status;
}

static nw_status open(struct nw_halo_channel *channel,
                      struct nw_halo_offer *own)
{
    struct colocated *colocated = NULL;
    const nw_halo *halo = channel->halo;
    struct nw_halo_task task = {.work = channel->sends ? NW_GPU_PACK
                                                       : NW_GPU_UNPACK};
    int32_t piece =
        channel->sends ? channel->transfer->from : channel->transfer->to;
    nw_status status = nw_alloc(1, sizeof *colocated, &colocated);

    channel->state = colocated;
    if (!status)
        status =
            nw_halo_lane_open(halo, piece, channel->sends, &colocated->lane);
    if (!status)
        status = nw_halo_gpu(halo)->alloc(nw_halo_dense_bytes(channel),
                                          &colocated->buffer);
    task.buffer = colocated->buffer;
    if (!status)
        status = nw_halo_lane_prepare(channel, &task, &colocated->lane);
    if (!status)
        nw_halo_lane_record(channel, &colocated->lane);
    return status ? status
                  : make_offer(channel, (struct offer *)(void *)own->bytes);
}

static nw_status join(struct nw_halo_channel *channel,
                      const struct nw_halo_offer *other)
{
    const struct offer *offer =
        (const struct offer *)(const void *)other->bytes;
    struct colocated *colocated = channel->state;
    nw_halo *halo = channel->halo;
    nw_status status = nw_halo_gpu(halo)->select(colocated->lane.device);

    if (channel->sends) {
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

/* What arrived in the exchange before is unpacked: the buffer is free. */
static nw_status post(struct nw_halo_channel *channel)
{
    struct colocated *colocated = channel->state;

    colocated->count++;
    colocated->launched = false;
    if (channel->receives)
        nw_halo_flag_set(&colocated->flags->free, colocated->count);
    return NW_OK;
}

static nw_status copy_if_free(struct nw_halo_channel *channel)
{
    struct colocated *colocated = channel->state;
    const struct nw_gpu *gpu = nw_halo_gpu(channel->halo);
    nw_status status = gpu->select(colocated->lane.device);

    if (colocated->launched ||
        !nw_halo_flag_is(&colocated->flags->free, colocated->count))
        return status;
    for (int32_t i = 0; !status && i < nw_halo_spans(channel); i++) {
        struct nw_halo_span span = nw_halo_span(channel, i);

        status = gpu->copy((char *)colocated->opened + colocated->offset +
                               span.offset,
                           (char *)colocated->buffer + span.offset, span.bytes,
                           colocated->lane.stream);
    }
    if (!status)
        status = nw_halo_lane_finish(channel->halo, &colocated->lane);
    if (!status) {
        colocated->launched = true;
        nw_halo_flag_set(&colocated->flags->written, colocated->count);
    }
    return status;
}

static nw_status start(struct nw_halo_channel *channel)
{
    struct colocated *colocated = channel->state;
    const nw_halo *halo = channel->halo;
    nw_status status;

    if (!channel->sends)
        return NW_OK;
    status = nw_halo_gpu(halo)->select(colocated->lane.device);
    if (!status)
        status =
            nw_halo_lane_join(halo, &colocated->lane, channel->transfer->from);
    if (!status)
        status = nw_halo_lane_run(channel, &colocated->lane);
    if (!status)
        status = nw_halo_gpu(halo)->event_record(colocated->packed,
                                                 colocated->lane.stream);
    return status ? status : copy_if_free(channel);
}

static nw_status unpack(struct nw_halo_channel *channel)
{
    struct colocated *colocated = channel->state;
    const nw_halo *halo = channel->halo;
    nw_status status = nw_halo_gpu(halo)->select(colocated->lane.device);

    if (!status)
        status =
            nw_halo_lane_join(halo, &colocated->lane, channel->transfer->to);
    if (!status)
        status = nw_halo_gpu(halo)->event_join(colocated->copied,
                                               colocated->lane.stream);
    if (!status)
        status = nw_halo_lane_run(channel, &colocated->lane);
    if (!status)
        status = nw_halo_lane_finish(halo, &colocated->lane);
    colocated->launched = !status;
    return status;
}

static nw_status test(struct nw_halo_channel *channel, bool *done)
{
    struct colocated *colocated = channel->state;
    const nw_halo *halo = channel->halo;
    nw_status status = NW_OK;

    if (channel->sends) {
        status = copy_if_free(channel);
        return !status && colocated->launched
                   ? nw_halo_gpu(halo)->event_test(colocated->packed, done)
                   : status;
    }
    if (!colocated->launched &&
        nw_halo_flag_is(&colocated->flags->written, colocated->count))
        status = unpack(channel);
    return !status && colocated->launched
               ? nw_halo_lane_test(halo, &colocated->lane, done)
               : status;
}

static void leave(struct nw_halo_channel *channel)
{
    struct colocated *colocated = channel->state;
    const struct nw_gpu *gpu = nw_halo_gpu(channel->halo);

    if (!colocated || !colocated->lane.stream ||
        gpu->select(colocated->lane.device))
        return;
    (void)gpu->stream_wait(colocated->lane.stream);
    if (colocated->opened)
        gpu->memory_close(colocated->opened);
    gpu->event_free(colocated->copied);
    colocated->opened = NULL;
    colocated->copied = NULL;
}

static void close_channel(struct nw_halo_channel *channel)
{
    struct colocated *colocated = channel->state;
    const struct nw_gpu *gpu = nw_halo_gpu(channel->halo);

    if (!colocated)
        return;
    nw_halo_lane_close(channel->halo, &colocated->lane);
    gpu->event_free(colocated->packed);
    if (!channel->halo->bereft)
        gpu->free(colocated->buffer);
    free(colocated);
    channel->state = NULL;
}

const struct nw_halo_method_ops nw_halo_colocated = {
    .id = NW_HALO_COLOCATED,
    .for_gpu = true,
    .each_pieces = true,
    .fits = fits,
    .open = open,
    .join = join,
    .post = post,
    .start = start,
    .test = test,
    .leave = leave,
    .close = close_channel,
};

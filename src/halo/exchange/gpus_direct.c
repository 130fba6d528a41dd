/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The source's GPU writes the ghost cells itself, by one kernel or by 3-D
 * copies; nothing is packed. In one rank everything is put into a stream at
 * the start. To another rank the receiver first says, by a counter and an
 * event, that its caller no longer uses the ghost cells; the sender says the
 * same way when its writing is in its stream.
 */
#include "halo/exchange/gpus_direct.h"
#include "halo/exchange/gpus_flags.h"

#include <stdlib.h>

struct direct {
    struct nw_halo_lane lane; /* the sender's; the receiver has its event */
    nw_gpu_event other; /* receiver: the sender's; sender: the ready one */
    struct nw_halo_spot spot; /* of the flags: the receiver's */
    struct nw_halo_flags *flags;
    uint64_t count;
    bool launched;
};

struct offer {
    struct nw_halo_spot spot;
    struct nw_halo_export done;
};

static bool is_inside(const struct nw_halo_channel *channel)
{
    return channel->sends && channel->receives;
}

static enum nw_halo_whose whose(const struct nw_halo_channel *channel)
{
    return is_inside(channel) ? NW_HALO_OWN : NW_HALO_MAPPED;
}

/* --- 3-D copies --- */

static bool is_copied(const struct nw_halo_channel *channel)
{
    return channel->ops->id == NW_HALO_PEER3D;
}

static nw_status copy_one(const struct nw_halo_channel *channel,
                          const struct direct *direct,
                          const struct nw_halo_transfer *transfer,
                          int32_t field)
{
    const nw_halo *halo = channel->halo;
    struct nw_halo_ending end = {transfer, &halo->field[field], false};
    struct nw_halo_view from = nw_halo_view_of(halo, &end, NW_HALO_OWN), to;
    struct nw_gpu_copy copy = {.row_bytes = (size_t)transfer->extent[0] *
                                            end.field->bytes,
                               .rows = (size_t)transfer->extent[1],
                               .planes = (size_t)transfer->extent[2]};

    end.target = true;
    to = nw_halo_view_of(halo, &end, whose(channel));
    copy.from = from.at;
    copy.to = to.at;
    copy.from_row = (size_t)from.step[1];
    copy.from_plane = (size_t)from.step[2];
    copy.to_row = (size_t)to.step[1];
    copy.to_plane = (size_t)to.step[2];
    copy.from_gpu = copy.to_gpu = direct->lane.device;
    if (is_inside(channel))
        copy.to_gpu = nw_halo_device(halo, transfer->to);
    return nw_halo_gpu(halo)->copy_box(&copy, direct->lane.stream);
}

/* Rows of elements with gaps between them, or walked backwards, are no box of
 * bytes: the kernel moves those. */
static bool can_copy(const struct nw_halo_channel *channel)
{
    const nw_halo *halo = channel->halo;

    for (int32_t f = 0; f < halo->field_count; f++)
        if (halo->field[f].bytes != halo->field[f].stride)
            return false;
    for (size_t i = 0; i < channel->count; i++)
        if (channel->transfer[i].mirror)
            return false;
    return true;
}

static nw_status copy_all(const struct nw_halo_channel *channel,
                          const struct direct *direct)
{
    const nw_halo *halo = channel->halo;
    nw_status status = nw_halo_gpu(halo)->select(direct->lane.device);

    for (size_t i = 0; i < channel->count; i++)
        for (int32_t a = 0; !status && a < halo->active_count; a++)
            status = copy_one(channel, direct, &channel->transfer[i],
                              halo->active[a]);
    return status;
}

/* --- opening --- */

static nw_status prepare(struct nw_halo_channel *channel)
{
    struct direct *direct = channel->state;
    const nw_halo *halo = channel->halo;
    struct nw_halo_task task = {.work = NW_GPU_MOVE, .whose = whose(channel)};
    int32_t to = is_inside(channel)
                     ? nw_halo_device(halo, channel->transfer->to)
                     : direct->lane.device;
    nw_status status = nw_halo_gpu(halo)->select(direct->lane.device);

    if (is_copied(channel) && can_copy(channel))
        return status;
    if (!status && to != direct->lane.device)
        status = nw_halo_gpu(halo)->reach(to);
    if (!status)
        status = nw_halo_lane_prepare(channel, &task, &direct->lane);
    if (!status)
        nw_halo_lane_record(channel, &direct->lane);
    return status;
}

static nw_status open_sender(struct nw_halo_channel *channel,
                             struct direct *direct, struct offer *offer)
{
    const nw_halo *halo = channel->halo;
    bool inside = is_inside(channel);
    nw_status status = nw_halo_lane_open(halo, channel->transfer->from, !inside,
                                         &direct->lane);

    if (!status && inside)
        return prepare(channel);
    if (!status)
        status = nw_halo_gpu(halo)->event_export(direct->lane.done,
                                                 &offer->done.handle);
    return status;
}

nw_status nw_halo_open_direct(struct nw_halo_channel *channel,
                              struct nw_halo_offer *own)
{
    struct offer *offer = (struct offer *)(void *)own->bytes;
    struct direct *direct = NULL;
    nw_status status = nw_alloc(1, sizeof *direct, &direct);

    channel->state = direct;
    if (!status && channel->sends)
        status = open_sender(channel, direct, offer);
    if (!status && channel->receives && !channel->sends)
        status = nw_halo_segment_reserve(channel->halo, sizeof *direct->flags,
                                         &direct->spot);
    if (!status)
        offer->spot = direct->spot;
    return status;
}

nw_status nw_halo_join_direct(struct nw_halo_channel *channel,
                              const struct nw_halo_offer *other)
{
    const struct offer *offer =
        (const struct offer *)(const void *)other->bytes;
    struct direct *direct = channel->state;
    nw_halo *halo = channel->halo;
    nw_status status;

    if (channel->sends) {
        direct->spot = offer->spot;
        status = nw_halo_peers_map(channel);
        if (!status)
            status = nw_halo_peers_event(halo, channel->transfer->to,
                                         &direct->other);
        if (!status)
            status = prepare(channel);
    } else {
        status = nw_halo_gpu(halo)->select(
            nw_halo_device(halo, channel->transfer->to));
        if (!status)
            status = nw_halo_gpu(halo)->event_import(&offer->done.handle,
                                                     &direct->other);
    }
    direct->flags = nw_halo_segment_at(halo, &direct->spot);
    return status;
}

/* --- exchanging --- */

static nw_status write_ghosts(struct nw_halo_channel *channel)
{
    struct direct *direct = channel->state;
    const nw_halo *halo = channel->halo;
    const struct nw_gpu *gpu = nw_halo_gpu(halo);
    struct nw_halo_lane *lane = &direct->lane;
    nw_status status = gpu->select(lane->device);

    if (!status)
        status = nw_halo_lane_join(halo, lane, channel->transfer->from);
    if (!status)
        status = is_inside(channel)
                     ? nw_halo_lane_join(halo, lane, channel->transfer->to)
                     : gpu->event_join(direct->other, lane->stream);
    if (!status)
        status = lane->all ? nw_halo_lane_run(channel, lane)
                           : copy_all(channel, direct);
    if (!status)
        status = nw_halo_lane_finish(halo, lane);
    direct->launched = !status;
    return status;
}

/* The ready event of this exchange is recorded by now. */
nw_status nw_halo_post_direct(struct nw_halo_channel *channel)
{
    struct direct *direct = channel->state;

    direct->count++;
    direct->launched = false;
    if (!channel->sends)
        nw_halo_flag_set(&direct->flags->free, direct->count);
    return NW_OK;
}

static nw_status send_if_free(struct nw_halo_channel *channel)
{
    struct direct *direct = channel->state;
    nw_status status = NW_OK;

    if (direct->launched ||
        !nw_halo_flag_is(&direct->flags->free, direct->count))
        return NW_OK;
    status = write_ghosts(channel);
    if (!status)
        nw_halo_flag_set(&direct->flags->written, direct->count);
    return status;
}

nw_status nw_halo_start_direct(struct nw_halo_channel *channel)
{
    if (is_inside(channel))
        return write_ghosts(channel);
    return channel->sends ? send_if_free(channel) : NW_OK;
}

nw_status nw_halo_test_direct(struct nw_halo_channel *channel, bool *done)
{
    struct direct *direct = channel->state;
    const nw_halo *halo = channel->halo;
    nw_status status = NW_OK;

    if (!channel->sends) {
        if (nw_halo_flag_is(&direct->flags->written, direct->count))
            status = nw_halo_gpu(halo)->event_test(direct->other, done);
        return status;
    }
    if (!is_inside(channel))
        status = send_if_free(channel);
    if (!status && direct->launched)
        status = nw_halo_lane_test(halo, &direct->lane, done);
    return status;
}

/* The receiver's is the sender's event; a sender's is kept for the halo. */
void nw_halo_leave_direct(struct nw_halo_channel *channel)
{
    struct direct *direct = channel->state;

    if (!direct || channel->sends)
        return;
    nw_halo_gpu(channel->halo)->event_free(direct->other);
    direct->other = NULL;
}

void nw_halo_close_direct(struct nw_halo_channel *channel)
{
    struct direct *direct = channel->state;

    if (!direct)
        return;
    nw_halo_lane_close(channel->halo, &direct->lane);
    free(direct);
    channel->state = NULL;
}

/* Inside a rank, and inside a node where arrays may be opened. */
static bool fits(const nw_halo *halo, const struct nw_halo_pair *pair)
{
    const struct nw_halo_gpus *gpus = halo->gpus;

    if (!pair->same_rank)
        return pair->same_node && gpus->ipc_arrays;
    /* both ends know only of a rank's own GPUs what they reach */
    return gpus->where[pair->from] == gpus->where[pair->to] ||
           pair->from_rank != halo->rank ||
           gpus->gpu->reaches(nw_halo_device(halo, pair->from),
                              nw_halo_device(halo, pair->to));
}

const struct nw_halo_method_ops nw_halo_write = {
    .id = NW_HALO_WRITE,
    .for_gpu = true,
    .each_pieces = true,
    .fits = fits,
    .open = nw_halo_open_direct,
    .join = nw_halo_join_direct,
    .post = nw_halo_post_direct,
    .start = nw_halo_start_direct,
    .test = nw_halo_test_direct,
    .leave = nw_halo_leave_direct,
    .close = nw_halo_close_direct,
};

const struct nw_halo_method_ops nw_halo_peer3d = {
    .id = NW_HALO_PEER3D,
    .for_gpu = true,
    .each_pieces = true,
    .fits = fits,
    .open = nw_halo_open_direct,
    .join = nw_halo_join_direct,
    .post = nw_halo_post_direct,
    .start = nw_halo_start_direct,
    .test = nw_halo_test_direct,
    .leave = nw_halo_leave_direct,
    .close = nw_halo_close_direct,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between any two ranks by MPI, as state machines (section III-D of the paper):
 * staged packs on the GPU and copies to pinned host memory, pinned packs
 * straight into it, aware hands MPI the packed buffer on the GPU. The sender
 * waits for nothing: its message goes when a test finds the event behind the
 * packing reached. The receiver's way is the same backwards.
 */
#include "halo/exchange/gpus.h"

#include <stdlib.h>

#define PART ((size_t)1 << 30)

enum state { IDLE, PACKING, MOVING, UNPACKING };

struct messages {
    struct nw_halo_lane lane;
    void *device, *pinned;
    char *wire; /* what MPI sees */
    MPI_Request *request;
    int request_count;
    enum state state;
};

static bool fits(const nw_halo *halo, const struct nw_halo_pair *pair)
{
    (void)halo;
    return !pair->same_rank;
}

static bool aware_here(nw_halo *halo)
{
    return halo->gpus->aware;
}

static nw_status make_buffers(struct nw_halo_channel *channel,
                              struct messages *messages)
{
    const struct nw_gpu *gpu = nw_halo_gpu(channel->halo);
    size_t bytes = nw_halo_dense_bytes(channel);
    nw_status status = NW_OK;

    if (channel->ops->id != NW_HALO_PINNED)
        status = gpu->alloc(bytes, &messages->device);
    if (!status && channel->ops->id != NW_HALO_AWARE)
        status = gpu->alloc_pinned(bytes, &messages->pinned);
    messages->wire = messages->pinned ? messages->pinned : messages->device;
    if (!messages->device || !messages->pinned)
        return status;
    messages->lane.copy_to =
        channel->sends ? messages->pinned : messages->device;
    messages->lane.copy_from =
        channel->sends ? messages->device : messages->pinned;
    return status;
}

static nw_status open(struct nw_halo_channel *channel,
                      struct nw_halo_offer *own)
{
    struct messages *messages = NULL;
    const nw_halo *halo = channel->halo;
    struct nw_halo_task task = {.work = channel->sends ? NW_GPU_PACK
                                                       : NW_GPU_UNPACK};
    int32_t piece =
        channel->sends ? channel->transfer->from : channel->transfer->to;
    size_t parts = nw_halo_dense_bytes(channel) / PART + 1;
    nw_status status = nw_alloc(1, sizeof *messages, &messages);

    (void)own;
    channel->state = messages;
    if (!status)
        status = nw_halo_lane_open(halo, piece, false, &messages->lane);
    if (!status)
        status = make_buffers(channel, messages);
    task.buffer = messages->device ? messages->device : messages->pinned;
    if (!status)
        status = nw_halo_lane_prepare(channel, &task, &messages->lane);
    if (!status)
        nw_halo_lane_record(channel, &messages->lane);
    if (!status)
        status = nw_alloc(parts + (size_t)halo->field_count,
                          sizeof *messages->request, &messages->request);
    return status;
}

static int move_span(struct nw_halo_channel *channel, struct nw_halo_span span)
{
    struct messages *messages = channel->state;
    MPI_Comm comm = channel->halo->comm;
    int code = MPI_SUCCESS;

    for (size_t at = 0; code == MPI_SUCCESS && at < span.bytes; at += PART) {
        int part = (int)(span.bytes - at < PART ? span.bytes - at : PART);
        char *start = messages->wire + span.offset + at;
        MPI_Request *request = &messages->request[messages->request_count++];

        code = channel->sends ? MPI_Isend(start, part, MPI_BYTE, channel->peer,
                                          channel->tag, comm, request)
                              : MPI_Irecv(start, part, MPI_BYTE, channel->peer,
                                          channel->tag, comm, request);
        if (code != MPI_SUCCESS)
            messages->request_count--;
    }
    return code;
}

static nw_status move(struct nw_halo_channel *channel)
{
    struct messages *messages = channel->state;
    int code = MPI_SUCCESS;

    messages->request_count = 0;
    for (int32_t i = 0; code == MPI_SUCCESS && i < nw_halo_spans(channel); i++)
        code = move_span(channel, nw_halo_span(channel, i));
    messages->state = MOVING;
    return nw_halo_mpi(code, "move a halo between GPUs");
}

static nw_status post(struct nw_halo_channel *channel)
{
    return channel->receives ? move(channel) : NW_OK;
}

static nw_status run_lane(struct nw_halo_channel *channel, int32_t piece,
                          enum state state)
{
    struct messages *messages = channel->state;
    const nw_halo *halo = channel->halo;
    nw_status status = nw_halo_gpu(halo)->select(messages->lane.device);

    if (!status)
        status = nw_halo_lane_join(halo, &messages->lane, piece);
    if (!status)
        status = nw_halo_lane_run(channel, &messages->lane);
    if (!status)
        status = nw_halo_lane_finish(halo, &messages->lane);
    messages->state = state;
    return status;
}

static nw_status start(struct nw_halo_channel *channel)
{
    return channel->sends ? run_lane(channel, channel->transfer->from, PACKING)
                          : NW_OK;
}

static nw_status test_messages(struct messages *messages, bool *arrived)
{
    int flag = 0;
    int code = MPI_Testall(messages->request_count, messages->request, &flag,
                           MPI_STATUSES_IGNORE);

    *arrived = flag;
    return nw_halo_mpi(code, "move a halo between GPUs");
}

/* One step: packed, so send; arrived, so unpack. */
static nw_status test(struct nw_halo_channel *channel, bool *done)
{
    struct messages *messages = channel->state;
    bool reached = false;
    nw_status status =
        messages->state == MOVING
            ? test_messages(messages, &reached)
            : nw_halo_lane_test(channel->halo, &messages->lane, &reached);

    if (status || !reached)
        return status;
    if (messages->state == PACKING)
        return move(channel);
    if (messages->state == MOVING && channel->receives)
        return run_lane(channel, channel->transfer->to, UNPACKING);
    messages->state = IDLE;
    *done = true;
    return NW_OK;
}

/* Messages that nobody will match any more, after a failure. */
static void give_up(struct messages *messages)
{
    int flag = 1;

    if (messages->state != MOVING)
        return;
    for (int i = 0; i < messages->request_count; i++)
        if (messages->request[i] != MPI_REQUEST_NULL &&
            NW_PMPI(Test)(&messages->request[i], &flag, MPI_STATUS_IGNORE) ==
                MPI_SUCCESS &&
            !flag) {
            NW_PMPI(Cancel)(&messages->request[i]);
            NW_PMPI(Request_free)(&messages->request[i]);
        }
}

static void close_channel(struct nw_halo_channel *channel)
{
    struct messages *messages = channel->state;
    const struct nw_gpu *gpu = nw_halo_gpu(channel->halo);

    if (!messages)
        return;
    give_up(messages);
    nw_halo_lane_close(channel->halo, &messages->lane);
    gpu->free(messages->device);
    gpu->free_pinned(messages->pinned);
    free(messages->request);
    free(messages);
    channel->state = NULL;
}

#define METHOD(name, number, may)                                              \
    const struct nw_halo_method_ops name = {                                   \
        .id = number,                                                          \
        .for_gpu = true,                                                       \
        .each_pieces = true,                                                   \
        .here = may,                                                           \
        .fits = fits,                                                          \
        .open = open,                                                          \
        .post = post,                                                          \
        .start = start,                                                        \
        .test = test,                                                          \
        .close = close_channel,                                                \
    }

METHOD(nw_halo_aware, NW_HALO_AWARE, aware_here);
METHOD(nw_halo_pinned, NW_HALO_PINNED, NULL);
METHOD(nw_halo_staged, NW_HALO_STAGED, NULL);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Delivers an eager message from its slot to the receive buffer. Host memory is
 * written by memcpy; GPU memory by the driver, by the adapter or through a GPU
 * mapping (memory/mapping.h). */
#include "channel/state.h"

#include "base/status.h"
#include "base/text.h"

#include <rdma/fi_errno.h>
#include <string.h>

static size_t room_of(const struct nw_slot *slot,
                      const nw_channel_request *request)
{
    return slot->wire.bytes < request->message.bytes ? slot->wire.bytes
                                                     : request->message.bytes;
}

static void eager_deliver_finish(nw_channel *channel, struct nw_slot *slot,
                                 nw_status status)
{
    nw_channel_request *request = slot->match;
    uint64_t bytes = slot->wire.bytes;

    slot->match = NULL;
    nw_slot_release(channel, slot, slot->data ? 2 : 1);
    if (!status && bytes > request->message.bytes)
        status = nw_fail(
            NW_EINVAL,
            "a message of %llu byte%s does not fit into a buffer of %zu",
            (unsigned long long)bytes, nw_plural((uint64_t)bytes),
            request->message.bytes);
    nw_request_finish(request, status);
}

/* Returns true if the NIC can write the message from its slot to GPU memory.
 * Registers the GPU memory once for the message, even if libfabric refuses the
 * write several times. */
static bool may_loop(nw_channel *channel, const struct nw_slot *slot,
                     nw_channel_request *request)
{
    size_t f = (size_t)(slot->fabric - channel->fabric);

    return slot->fabric->hmem &&
           !nw_rcache_take(&channel->regions[f], slot->fabric,
                           &request->message, &request->kept);
}

/* Starts a remote write by which the NIC copies the message from its slot to
 * GPU memory. The target of the write is this process's own endpoint
 * (loopback). If libfabric cannot take the write now, the slot waits in
 * channel->loops. */
static nw_status by_loopback(nw_channel *channel, struct nw_slot *slot,
                             nw_channel_request *request)
{
    struct nw_endpoint *fabric = slot->fabric;
    size_t bytes = room_of(slot, request),
           f = (size_t)(fabric - channel->fabric);
    struct fid_mr *slots = channel->slots_region[f];
    struct nw_endpoint_write write = {
        .from = slot->payload,
        .descriptor = slots ? fi_mr_desc(slots) : NULL,
        .bytes = bytes,
        .peer = channel->self[f],
        .context = &slot->op,
    };
    ssize_t code;

    write.address =
        nw_region_address(fabric, request->kept, request->message.buffer);
    write.key = fi_mr_key(request->kept->mr);
    code = nw_endpoint_write(fabric, &write);
    slot->looping = true;
    if (code == -FI_EAGAIN) {
        slot->next = channel->loops;
        channel->loops = slot;
    } else if (code) {
        slot->looping = false;
        return nw_fail(NW_EIO,
                       "provider %s does not support writes to the own process",
                       fabric->provider);
    }
    return NW_OK;
}

static enum nw_channel_copy eager_deliver_choose(nw_channel *channel,
                                                 const struct nw_slot *slot,
                                                 nw_channel_request *request)
{
    size_t bytes = room_of(slot, request);
    enum nw_channel_copy copy = channel->options.copy;

    if (copy == NW_CHANNEL_COPY_AUTO)
        copy = nw_choose_protocol(channel, request, bytes).copy;
    if ((copy == NW_CHANNEL_LOOPBACK && !may_loop(channel, slot, request)) ||
        (copy == NW_CHANNEL_FASTCOPY &&
         !nw_gpu_mapping_serves(channel->mapping, request->message.buffer)) ||
        !copy)
        return NW_CHANNEL_NAIVE;
    return copy;
}

static nw_status into_gpu(nw_channel *channel, struct nw_slot *slot,
                          nw_channel_request *request)
{
    size_t bytes = room_of(slot, request);
    enum nw_channel_copy copy = eager_deliver_choose(channel, slot, request);

    /* the driver copies if the memory cannot be mapped: memory of pools or from
     * cuMemMap */
    if (copy == NW_CHANNEL_FASTCOPY &&
        nw_gpu_mapping_store(channel->mapping, request->message.buffer,
                             slot->payload, bytes))
        copy = NW_CHANNEL_NAIVE;
    request->result.copy = copy;
    channel->counts.copied[copy]++;
    if (copy == NW_CHANNEL_FASTCOPY)
        return NW_OK;
    if (copy == NW_CHANNEL_LOOPBACK)
        return by_loopback(channel, slot, request);
    return nw_memory_copy_in(request->gpu, request->message.buffer,
                             slot->payload, bytes);
}

/* Delivers a message in the most common case: its payload has arrived
 * completely, and the receive has a host buffer large enough for it. */
static void deliver_plain(nw_channel *channel, struct nw_slot *slot,
                          nw_channel_request *request)
{
    if (slot->wire.bytes)
        memcpy(request->message.buffer, slot->payload, slot->wire.bytes);
    nw_slot_release(channel, slot, 1);
    nw_request_over(request);
}

void nw_deliver(nw_channel *channel, struct nw_slot *slot,
                nw_channel_request *request)
{
    size_t bytes = room_of(slot, request);
    nw_status status = NW_OK;

    if (slot->wire.kind == NW_WIRE_EAGER && request->gpu < 0 &&
        slot->wire.bytes <= request->message.bytes) {
        deliver_plain(channel, slot, request);
        return;
    }

    slot->match = request;
    if (bytes && request->gpu >= 0)
        status = into_gpu(channel, slot, request);
    /* the bytes of a CMA message were already read into the buffer */
    else if (bytes && slot->wire.kind != NW_WIRE_CMA)
        memcpy(request->message.buffer, slot->payload, bytes);
    if (!slot->looping)
        eager_deliver_finish(channel, slot, status);
}

void nw_deliver_looped(nw_channel *channel, struct nw_slot *slot,
                       nw_status status)
{
    slot->looping = false;
    eager_deliver_finish(channel, slot, status);
}

void nw_deliver_retry(nw_channel *channel)
{
    struct nw_slot *slot = channel->loops;

    channel->loops = NULL;
    while (slot) {
        struct nw_slot *next = slot->next;
        nw_status status = by_loopback(channel, slot, slot->match);

        if (status)
            eager_deliver_finish(channel, slot, status);
        slot = next;
    }
}

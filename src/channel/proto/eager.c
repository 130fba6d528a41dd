/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends an eager message. NW_CHANNEL_GATHER passes header and payload as two
 * iovecs, NW_CHANNEL_PACK copies both into one buffer, and NW_CHANNEL_TWO sends
 * them as two messages. A message that the provider shm cannot copy at once is
 * sent in at most NW_PARTS parts. */
#include "channel/proto/eager.h"

#include "base/clock.h"
#include "base/status.h"
#include "channel/proto/cma.h"
#include "channel/proto/nonce.h"

#include <rdma/fi_errno.h>
#include <string.h>

/* Sets *out to libfabric's memory descriptor of the bounce buffers (pinned host
 * memory) for the endpoint channel->fabric[fabric]. */
static nw_status bounces_describe(nw_channel *channel, int fabric, void **out)
{
    return nw_endpoint_describe(&channel->fabric[fabric],
                                channel->bounce_memory, channel->bounces_bytes,
                                &channel->bounces_region[fabric], out);
}

static struct nw_bounce *bounce_take(nw_channel_request *request)
{
    nw_channel *channel = request->channel;

    if (!request->bounce && channel->bounces) {
        request->bounce = channel->bounces;
        channel->bounces = request->bounce->next;
    }
    return request->bounce;
}

/* Returns true if the CPU should copy a payload of `bytes` bytes out of GPU
 * memory through a mapping of that memory (FASTCOPY). A resident kernel on the
 * GPU, if there is one, reads GPU memory as fast as it writes it. Without it,
 * the CPU waits for each cache line that it loads, so this pays only for small
 * payloads. */
static bool load_pays(const nw_channel *channel, uint64_t bytes)
{
    return channel->mapping && (channel->mapping->load ||
                                nw_cost_load_pays(&channel->costs, bytes));
}

/* Copies the request's payload from GPU memory to host memory at `payload`. */
static nw_status take_out(nw_channel_request *request, char *payload)
{
    nw_channel *channel = request->channel;
    const struct nw_channel_message *message = &request->message;
    enum nw_channel_copy copy = channel->options.copy;

    if (copy == NW_CHANNEL_COPY_AUTO)
        copy = nw_choose_protocol(channel, request, message->bytes).copy;
    if (copy == NW_CHANNEL_FASTCOPY && load_pays(channel, message->bytes) &&
        nw_gpu_mapping_serves(channel->mapping, message->buffer) &&
        !nw_gpu_mapping_load(channel->mapping, payload, message->buffer,
                             message->bytes))
        return NW_OK;
    return nw_memory_copy_out(request->gpu, payload, message->buffer,
                              message->bytes);
}

/* Returns true if the NIC can send the payload directly from GPU memory. Then
 * registers this memory and sets request->payload to it. */
static bool take_gpu_payload(nw_channel_request *request)
{
    nw_channel *channel = request->channel;
    int f = request->peer->fabric;
    struct nw_endpoint *fabric = &channel->fabric[f];
    const struct nw_channel_message *message = &request->message;

    if (!fabric->gathers ||
        nw_rcache_take(&channel->regions[f], fabric, message, &request->kept))
        return false;
    request->payload = message->buffer;
    return true;
}

/* Returns true, and sets request->payload, if libfabric can send the payload
 * directly from the message's buffer. Host memory is not registered for this:
 * for one small message, that takes longer than a copy into registered memory.
 */
static bool is_zero_copy(nw_channel_request *request)
{
    const struct nw_channel_message *message = &request->message;
    const struct nw_endpoint *fabric =
        nw_fabric_of(request->channel, request->peer);

    if (request->result.protocol == NW_CHANNEL_PACK ||
        (request->result.protocol == NW_CHANNEL_CMA && request->gpu >= 0))
        return false;
    if (request->gpu >= 0)
        return (!fabric->local || !nw_eager_head(request) ||
                bounce_take(request)) &&
               take_gpu_payload(request);
    if (fabric->local || (!fabric->pieces && nw_eager_head(request)))
        return false;
    request->payload =
        message->bytes ? message->buffer : (const void *)&request->wire;
    return true;
}

/* Sets request->payload to memory from which libfabric can send; it stays NULL
 * if a bounce buffer is needed and none is free. */
nw_status nw_eager_prepare(nw_channel_request *request)
{
    const struct nw_channel_message *message = &request->message;
    nw_status status = NW_OK;
    char *payload;

    if (is_zero_copy(request) || !bounce_take(request))
        return NW_OK;
    payload = request->bounce->memory + NW_WIRE_HEADER;
    if (request->gpu >= 0)
        status = take_out(request, payload);
    else if (message->bytes) /* the buffer of an empty message may be NULL */
        memcpy(payload, message->buffer, message->bytes);
    request->payload = payload;
    return status;
}

/* Returns true if libfabric's provider copies the whole message, or all its
 * parts, before the send call returns. Returns false for an empty message of
 * NW_CHANNEL_TWO: it has no parts, but its empty payload must be sent. */
bool nw_eager_is_copied(const nw_channel_request *request)
{
    const struct nw_endpoint *fabric =
        nw_fabric_of(request->channel, request->peer);
    uint64_t bytes = request->message.bytes;
    enum nw_channel_protocol last = bytes ? NW_CHANNEL_TWO : NW_CHANNEL_PACK;

    return fabric->copies && request->result.protocol <= last &&
           bytes + NW_WIRE_HEADER <= NW_PARTS * fabric->whole;
}

static ssize_t post_pieces(nw_channel_request *request, const struct iovec *iov,
                           void **descriptors, size_t count)
{
    struct fid_ep *ep = nw_fabric_of(request->channel, request->peer)->ep;
    struct fi_msg msg = {.msg_iov = iov,
                         .desc = descriptors,
                         .iov_count = count,
                         .addr = request->peer->address,
                         .context = &request->op};

    if (nw_eager_is_copied(request))
        return fi_sendmsg(ep, &msg, FI_INJECT);
    return fi_sendv(ep, iov, descriptors, count, msg.addr, msg.context);
}

static bool is_packed(const nw_channel_request *request)
{
    return request->bounce &&
           request->payload == request->bounce->memory + NW_WIRE_HEADER;
}

/* Sets the memory descriptors for a send: descriptors[0] is that of the header
 * in the bounce buffer, if the request has one; descriptors[1] that of the
 * payload. */
static nw_status eager_describe(nw_channel_request *request,
                                void *descriptors[2])
{
    nw_status status = NW_OK;

    if (request->bounce)
        status = bounces_describe(request->channel, request->peer->fabric,
                                  &descriptors[0]);
    descriptors[1] =
        request->kept ? fi_mr_desc(request->kept->mr) : descriptors[0];
    return status;
}

/* Sends bytes that the provider copies during the call (FI_INJECT). Does not
 * use fi_injectdata, with which a message of 1.1 us over shm took 40 to 75 ns
 * longer if a cache line moved slowly between the two cores. */
static ssize_t post_copied(nw_channel_request *request, const void *bytes,
                           size_t count, uint64_t word)
{
    struct iovec iov = {(void *)bytes, count};
    void *descriptor = NULL;
    struct fi_msg msg = {.msg_iov = &iov,
                         .desc = &descriptor,
                         .iov_count = 1,
                         .addr = request->peer->address,
                         .context = &request->op,
                         .data = word};

    return fi_sendmsg(nw_fabric_of(request->channel, request->peer)->ep, &msg,
                      FI_INJECT | FI_REMOTE_CQ_DATA);
}

/* Sends the payload as one message; the header travels in the 64-bit word
 * beside it (FI_REMOTE_CQ_DATA). */
static ssize_t post_word(nw_channel_request *request)
{
    struct nw_endpoint *fabric = nw_fabric_of(request->channel, request->peer);
    size_t bytes = request->message.bytes;
    uint64_t word = nw_wire_word(&request->wire);
    void *descriptors[2] = {NULL, NULL};

    if (nw_eager_is_copied(request))
        return post_copied(request, request->payload, bytes, word);
    if (eager_describe(request, descriptors))
        return -FI_ENOMEM;
    return fi_senddata(fabric->ep, request->payload, bytes, descriptors[1],
                       word, request->peer->address, &request->op);
}

static ssize_t post_whole(nw_channel_request *request)
{
    size_t bytes = request->message.bytes;
    struct iovec iov[] = {{&request->wire, NW_WIRE_HEADER},
                          {(void *)request->payload, bytes}};
    void *descriptors[2] = {NULL, NULL};

    if (eager_describe(request, descriptors))
        return -FI_ENOMEM;
    if (request->bounce) {
        memcpy(request->bounce->memory, &request->wire, NW_WIRE_HEADER);
        iov[0].iov_base = request->bounce->memory;
    }
    if (is_packed(request))
        iov[0].iov_len += bytes;
    return post_pieces(request, iov, descriptors,
                       bytes && !is_packed(request) ? 2 : 1);
}

static uint64_t payload_word(const nw_channel_request *request)
{
    const nw_channel *channel = request->channel;
    const struct nw_peer *peer = request->peer;

    return nw_nonce_word(peer->nonce, channel->options.rank) &
           channel->word_mask[peer->fabric];
}

/* Sends the rest of the payload, from byte request->moved on, in parts that the
 * provider copies during the call. */
static ssize_t post_rest(nw_channel_request *request)
{
    struct nw_peer *peer = request->peer;
    struct nw_endpoint *fabric = nw_fabric_of(request->channel, peer);
    uint64_t word = payload_word(request);
    ssize_t code = 0;

    while (!code && request->moved < request->message.bytes) {
        uint64_t left = request->message.bytes - request->moved;
        size_t part = left < fabric->whole ? left : fabric->whole;

        code =
            fi_injectdata(fabric->ep, (char *)request->payload + request->moved,
                          part, word, peer->address);
        if (!code)
            request->moved += part;
    }
    return code;
}

ssize_t nw_two_post(nw_channel_request *request)
{
    nw_channel *channel = request->channel;
    struct nw_peer *peer = request->peer;
    void *descriptors[2] = {NULL, NULL};

    if (!request->head_sent) {
        ssize_t code = nw_control_now(channel, peer, &request->wire);

        if (code)
            return code;
        request->head_sent = true;
        request->moved = 0;
    }
    if (nw_eager_is_copied(request))
        return post_rest(request);
    if (eager_describe(request, descriptors))
        return -FI_ENOMEM;
    return fi_senddata(nw_fabric_of(channel, peer)->ep, request->payload,
                       request->message.bytes, descriptors[1],
                       payload_word(request), peer->address, &request->op);
}

/* Returns true if an eager message is too large for the provider to copy at
 * once, but fits into NW_PARTS parts. Sending these is faster than a copy by
 * the kernel. */
static bool is_in_parts(const nw_channel_request *request)
{
    size_t whole = nw_fabric_of(request->channel, request->peer)->whole;
    uint64_t bytes = request->message.bytes;

    return bytes + nw_eager_head(request) > whole &&
           bytes + NW_WIRE_HEADER <= NW_PARTS * whole;
}

/* Sends the first part of a message: the header and the first bytes of the
 * payload, `whole` bytes together. Header and payload are gathered or packed as
 * in a message that is sent at once. */
static ssize_t post_first(nw_channel_request *request, size_t whole)
{
    struct nw_endpoint *fabric = nw_fabric_of(request->channel, request->peer);
    struct iovec iov[] = {{&request->wire, NW_WIRE_HEADER},
                          {(void *)request->payload, whole - NW_WIRE_HEADER}};
    void *descriptors[2] = {NULL, NULL};
    bool pack = request->result.protocol == NW_CHANNEL_PACK;
    struct fi_msg msg = {.msg_iov = iov,
                         .desc = descriptors,
                         .iov_count = pack ? 1 : 2,
                         .addr = request->peer->address,
                         .context = &request->op};

    request->wire.kind = NW_WIRE_PART;
    if (pack) {
        memcpy(request->bounce->memory, &request->wire, NW_WIRE_HEADER);
        iov[0] = (struct iovec){request->bounce->memory, whole};
    }
    return fi_sendmsg(fabric->ep, &msg, FI_INJECT);
}

/* Sends a message in parts. Only the first part takes a credit of the receiver,
 * because the receiver appends the other parts to it and frees their slots
 * immediately. */
static ssize_t post_parts(nw_channel_request *request)
{
    nw_channel *channel = request->channel;
    struct nw_peer *peer = request->peer;
    struct nw_endpoint *fabric = nw_fabric_of(channel, peer);
    size_t whole = fabric->whole;
    uint64_t start = request->weighs && !request->head_sent ? nw_clock_ns() : 0;
    ssize_t code = 0;

    if (!request->head_sent) {
        code = post_first(request, whole);
        if (code)
            return code;
        request->head_sent = true;
        request->moved = whole - NW_WIRE_HEADER;
        peer->owed = 0;
    }
    code = post_rest(request);
    if (!code && start)
        nw_selector_took(nw_cma_selector(request), 0,
                         2 * (nw_clock_ns() - start));
    return code;
}

ssize_t nw_eager_post(nw_channel_request *request)
{
    if (is_in_parts(request))
        return post_parts(request);
    return nw_eager_post_whole(request);
}

ssize_t nw_eager_post_whole(nw_channel_request *request)
{
    return nw_eager_head(request) ? post_whole(request) : post_word(request);
}

void nw_eager_cleanup(nw_channel_request *request)
{
    nw_rcache_give(request->kept);
    request->kept = NULL;
}

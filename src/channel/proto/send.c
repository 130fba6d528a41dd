/* SPDX-License-Identifier: BSD-3-Clause */
/* How messages leave: in order for each peer, as far as its credits go, by the
 * protocol that was asked for or is cheapest. What libfabric does not take now
 * stays and is tried again by progress. */
#include "channel/proto/cma.h"

#include "base/clock.h"
#include "base/status.h"

#include <rdma/fi_errno.h>
#include <string.h>

/* Libraries below finish small messages in order; large ones may be overtaken.
 */
enum { ORDERED = 8192 };

/* A host's memory that is bounces, for operations of one endpoint. */
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

/* By the kernel that stays where messages between GPUs of this size go by the
 * CPU: it reads as well as it writes, which no mapping does across the bus. */
static nw_status take_out(nw_channel_request *request, char *payload)
{
    nw_channel *channel = request->channel;
    const struct nw_channel_message *message = &request->message;
    enum nw_channel_copy copy = channel->options.copy;

    if (copy == NW_CHANNEL_COPY_AUTO)
        copy = nw_choose_way(channel, request, message->bytes).copy;
    if (copy == NW_CHANNEL_FASTCOPY && channel->mapping &&
        channel->mapping->load &&
        !nw_gpu_mapping_load(channel->mapping, payload, message->buffer,
                             message->bytes))
        return NW_OK;
    return nw_memory_copy_out(request->gpu, payload, message->buffer,
                              message->bytes);
}

/* The adapter reads GPU memory itself, where it can be registered. */
static bool find_straight(nw_channel_request *request)
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

/* Bytes that go before the payload of an eager message. */
static size_t head_of(const nw_channel_request *request)
{
    return request->result.protocol == NW_CHANNEL_GATHER
               ? request->channel->head[request->peer->fabric]
               : NW_WIRE_HEADER;
}

/* Whether libfabric reads the message where it is. A piece that must be
 * registered would cost more than its copy, into memory that is. */
static bool is_straight(nw_channel_request *request)
{
    const struct nw_channel_message *message = &request->message;
    const struct nw_endpoint *fabric =
        nw_fabric_of(request->channel, request->peer);

    if (request->result.protocol == NW_CHANNEL_PACK ||
        (request->result.protocol == NW_CHANNEL_FETCH && request->gpu >= 0))
        return false;
    if (request->gpu >= 0)
        return (!fabric->local || !head_of(request) || bounce_take(request)) &&
               find_straight(request);
    if (fabric->local || (!fabric->pieces && head_of(request)))
        return false;
    request->payload =
        message->bytes ? message->buffer : (const void *)&request->wire;
    return true;
}

/* The payload where libfabric can read it; NULL: no bounce is free. Found once,
 * however often libfabric must be asked to take it. */
static nw_status find_payload(nw_channel_request *request)
{
    const struct nw_channel_message *message = &request->message;
    nw_status status = NW_OK;
    char *payload;

    if (is_straight(request) || !bounce_take(request))
        return NW_OK;
    payload = request->bounce->memory + NW_WIRE_HEADER;
    if (request->gpu >= 0)
        status = take_out(request, payload);
    else if (message->bytes) /* the buffer of an empty one may be NULL */
        memcpy(payload, message->buffer, message->bytes);
    request->payload = payload;
    return status;
}

/* Whether the provider copies the message, whole or in parts, before it returns
 * from the call; of two messages the second is none where it is empty. */
static bool is_copied(const nw_channel_request *request)
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

    if (is_copied(request))
        return fi_sendmsg(ep, &msg, FI_INJECT);
    return fi_sendv(ep, iov, descriptors, count, msg.addr, msg.context);
}

static bool is_packed(const nw_channel_request *request)
{
    return request->bounce &&
           request->payload == request->bounce->memory + NW_WIRE_HEADER;
}

/* Of the memory that the payload is in, and of the header's in the bounce. */
static nw_status describe(nw_channel_request *request, void *descriptors[2])
{
    nw_status status = NW_OK;

    if (request->bounce)
        status = bounces_describe(request->channel, request->peer->fabric,
                                  &descriptors[0]);
    descriptors[1] =
        request->kept ? fi_mr_desc(request->kept->mr) : descriptors[0];
    return status;
}

/* Copied while we call. Not by fi_injectdata: where a line of the cache takes
 * long from core to core, that takes 40 to 75 ns more of 1.1 us over shm. */
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

/* The payload alone, and a word beside it. */
static ssize_t post_word(nw_channel_request *request)
{
    struct nw_endpoint *fabric = nw_fabric_of(request->channel, request->peer);
    size_t bytes = request->message.bytes;
    uint64_t word = nw_wire_word(&request->wire);
    void *descriptors[2] = {NULL, NULL};

    if (is_copied(request))
        return post_copied(request, request->payload, bytes, word);
    if (describe(request, descriptors))
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

    if (describe(request, descriptors))
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

static ssize_t post_head(nw_channel_request *request)
{
    return nw_control_now(request->channel, request->peer, &request->wire);
}

/* The payload, or what is left of it, in parts that the provider copies. */
static ssize_t post_rest(nw_channel_request *request)
{
    struct nw_peer *peer = request->peer;
    struct nw_endpoint *fabric = nw_fabric_of(request->channel, peer);
    uint64_t rank = (uint64_t)request->channel->options.rank;
    ssize_t code = 0;

    while (!code && request->moved < request->message.bytes) {
        uint64_t left = request->message.bytes - request->moved;
        size_t part = left < fabric->whole ? left : fabric->whole;

        code =
            fi_injectdata(fabric->ep, (char *)request->payload + request->moved,
                          part, rank, peer->address);
        if (!code)
            request->moved += part;
    }
    return code;
}

static ssize_t post_two(nw_channel_request *request)
{
    nw_channel *channel = request->channel;
    struct nw_peer *peer = request->peer;
    void *descriptors[2] = {NULL, NULL};

    if (!request->head_sent) {
        ssize_t code = post_head(request);

        if (code)
            return code;
        request->head_sent = true;
        request->moved = 0;
    }
    if (is_copied(request))
        return post_rest(request);
    if (describe(request, descriptors))
        return -FI_ENOMEM;
    return fi_senddata(nw_fabric_of(channel, peer)->ep, request->payload,
                       request->message.bytes, descriptors[1],
                       (uint64_t)channel->options.rank, peer->address,
                       &request->op);
}

/* Whether an eager message is more than its provider passes through its own
 * memory, but not so much that the kernel's copy is cheaper. */
static bool is_in_parts(const nw_channel_request *request)
{
    size_t whole = nw_fabric_of(request->channel, request->peer)->whole;
    uint64_t bytes = request->message.bytes;

    return bytes + head_of(request) > whole &&
           bytes + NW_WIRE_HEADER <= NW_PARTS * whole;
}

/* The first has the header, and is gathered or packed as a whole one is. */
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

/* Those between need no room of their own in the receiver's bounds: it takes
 * them out of their slots at once. */
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
        nw_pace_took(nw_cma_pace(request), 0, 2 * (nw_clock_ns() - start));
    return code;
}

static ssize_t post(nw_channel_request *request)
{
    enum nw_channel_protocol protocol = request->result.protocol;

    request->wire.credits = (uint16_t)request->peer->owed;
    request->wire.order = request->peer->sent;
    if ((protocol == NW_CHANNEL_PACK || protocol == NW_CHANNEL_GATHER) &&
        is_in_parts(request))
        return post_parts(request);
    if (protocol == NW_CHANNEL_FETCH && nw_cma_begin(request))
        return nw_cma_post(request);
    if (protocol >= NW_CHANNEL_RENDEZVOUS)
        return post_head(request);
    if (protocol == NW_CHANNEL_TWO)
        return post_two(request);
    return head_of(request) ? post_whole(request) : post_word(request);
}

static void count(nw_channel_request *request)
{
    struct nw_peer *peer = request->peer;

    /* the head of several took them along already */
    if (!request->head_sent)
        peer->owed = 0;
    peer->credits -= request->result.protocol == NW_CHANNEL_TWO ? 2 : 1;
    peer->sent++;
    request->channel->counts.sent[request->result.protocol]++;
    request->channel->counts.bytes_sent += request->message.bytes;
}

static void posted(nw_channel_request *request)
{
    struct nw_peer *peer = request->peer;

    count(request);
    if (is_copied(request)) {
        nw_request_finish(request, NW_OK);
        return;
    }
    if (request->result.protocol == NW_CHANNEL_TWO &&
        request->message.bytes > ORDERED)
        peer->two = request;
    nw_list_remove(request);
    if (request->result.protocol == NW_CHANNEL_FETCH)
        return;
    if (request->result.protocol == NW_CHANNEL_RENDEZVOUS) {
        nw_rendezvous_asked(request);
        return;
    }
    request->flights++;
    nw_list_add(&request->channel->flying, request);
}

/* The receiver hears in its turn that there is no payload; false: later. */
static bool push_failed(nw_channel_request *request, nw_status status)
{
    struct nw_peer *peer = request->peer;
    struct nw_wire failed = {.kind = NW_WIRE_FAILED,
                             .tag = request->message.tag,
                             .order = peer->sent};
    ssize_t code = nw_control_now(request->channel, peer, &failed);

    if (code == -FI_EAGAIN)
        return false;
    if (!code) {
        peer->sent++;
        peer->credits--;
    }
    nw_request_finish(request, status);
    if (code)
        nw_peer_lose(request->channel, peer, "its provider refuses to send");
    return true;
}

/* False where the peer's sends must wait. */
static bool push_one(nw_channel_request *request)
{
    struct nw_peer *peer = request->peer;
    bool eager = request->result.protocol != NW_CHANNEL_RENDEZVOUS;
    uint32_t need = request->result.protocol == NW_CHANNEL_TWO ? 2 : 1;
    nw_status status;
    ssize_t code;

    if (peer->credits < need || peer->two)
        return false;
    if (eager && !request->payload) {
        status = find_payload(request);
        if (status)
            return push_failed(request, status);
        if (!request->payload)
            return false;
    }
    code = post(request);
    if (code == -FI_EAGAIN)
        return false;
    if (code)
        nw_peer_lose(request->channel, peer, "its provider refuses to send");
    else
        posted(request);
    return true;
}

static void push_peer(nw_channel *channel, struct nw_peer *peer)
{
    if (!nw_push_controls(channel, peer)) {
        channel->stuck = 1;
        return;
    }
    while (peer->waiting.head)
        if (!push_one(peer->waiting.head)) {
            channel->stuck = 1;
            return;
        }
}

void nw_send_push(nw_channel *channel)
{
    if (!channel->stuck)
        return;
    channel->stuck = 0;
    for (int32_t i = 0; i < channel->options.count; i++)
        if (channel->peer[i].control || channel->peer[i].waiting.head)
            push_peer(channel, &channel->peer[i]);
}

/* What shm cannot pass on in parts it sends with a word to be awaited, which
 * after a peer was killed none may get: the kernel writes it instead. */
static bool is_beyond(const nw_channel_request *request)
{
    size_t whole = nw_fabric_of(request->channel, request->peer)->whole;
    uint64_t bytes = request->message.bytes + NW_WIRE_HEADER;

    return request->peer->at_once && bytes > whole && bytes > NW_PARTS * whole;
}

static enum nw_channel_protocol choose(nw_channel_request *request)
{
    nw_channel *channel = request->channel;
    uint64_t bytes = request->message.bytes;

    enum nw_channel_protocol protocol = channel->options.protocol;
    bool large, reads;

    if (!protocol && request->gpu < 0 &&
        bytes < channel->small[request->peer->fabric][channel->regime])
        return NW_CHANNEL_GATHER;
    large = bytes > channel->options.slot_bytes || is_beyond(request);
    if (!protocol && !large && nw_cma_weigh(request, &reads))
        return reads ? NW_CHANNEL_FETCH : NW_CHANNEL_GATHER;
    if (!protocol)
        protocol = large ? NW_CHANNEL_FETCH
                         : nw_choose_way(channel, request, bytes).protocol;
    if (protocol == NW_CHANNEL_FETCH && !nw_cma_may(request))
        protocol = request->gpu >= 0 ? NW_CHANNEL_PACK : NW_CHANNEL_GATHER;
    return large && protocol != NW_CHANNEL_FETCH ? NW_CHANNEL_RENDEZVOUS
                                                 : protocol;
}

/* Word by word: the struct is several times what a small message sends. */
static void write_wire(nw_channel_request *request)
{
    static const uint8_t kinds[] = {
        [NW_CHANNEL_GATHER] = NW_WIRE_EAGER,
        [NW_CHANNEL_PACK] = NW_WIRE_EAGER,
        [NW_CHANNEL_TWO] = NW_WIRE_HEAD,
        [NW_CHANNEL_RENDEZVOUS] = NW_WIRE_RTS,
        [NW_CHANNEL_FETCH] = NW_WIRE_FETCH,
    };
    struct nw_wire *wire = &request->wire;

    wire->magic = NW_WIRE_MAGIC;
    wire->version = NW_WIRE_VERSION;
    wire->kind = kinds[request->result.protocol];
    wire->source = request->channel->options.rank;
    wire->tag = request->message.tag;
    wire->bytes = request->message.bytes;
    wire->id = request->id;
}

/* What has nothing to wait for, and is copied while we call: it needs neither
 * list nor bounce. False where it goes the way of all others. */
static bool send_at_once(nw_channel_request *request)
{
    const struct nw_channel_message *message = &request->message;
    struct nw_peer *peer = request->peer;
    struct nw_endpoint *fabric = nw_fabric_of(request->channel, peer);

    if (!fabric->copies || fabric->local || request->gpu >= 0 ||
        request->result.protocol != NW_CHANNEL_GATHER ||
        message->bytes + head_of(request) > fabric->whole ||
        peer->waiting.head || peer->control || peer->two || !peer->credits)
        return false;
    request->wire.credits = (uint16_t)peer->owed;
    request->wire.order = peer->sent;
    request->payload = message->buffer;
    if (head_of(request) ? post_whole(request) : post_word(request))
        return false;
    count(request);
    nw_request_over(request);
    return true;
}

void nw_send_start(nw_channel_request *request)
{
    nw_channel *channel = request->channel;
    struct nw_peer *peer = request->peer;
    enum nw_channel_protocol protocol = choose(request);

    request->result = (struct nw_channel_result){
        peer->rank, request->message.tag, request->message.bytes, protocol, 0};
    if (peer->lost) {
        nw_request_finish(request,
                          nw_fail(NW_EIO, "rank %d is gone", peer->rank));
        return;
    }
    if (protocol >= NW_CHANNEL_RENDEZVOUS) {
        nw_status status = nw_request_know(request);

        if (status) {
            nw_request_finish(request, status);
            return;
        }
    }
    peer->used = true;
    write_wire(request);
    if (send_at_once(request))
        return;
    if (protocol == NW_CHANNEL_RENDEZVOUS)
        nw_ipc_weigh(request);
    if (protocol == NW_CHANNEL_RENDEZVOUS && request->opening)
        request->wire.kind = NW_WIRE_ASK;
    nw_list_add(&peer->waiting, request);
    push_peer(channel, peer);
    if (request->list == &peer->waiting)
        channel->counts.stalled++;
}

/* An eager message is done when its buffer may be used again; a rendezvous
 * when all of it was written. */
void nw_send_done(nw_channel_request *request)
{
    if (request->peer->two == request)
        request->peer->two = NULL;
    nw_request_landed(request);
    if (!request->done)
        nw_request_finish(request, NW_OK);
}

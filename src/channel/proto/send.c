/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends messages to each peer in the order of the calls, as long as the peer
 * has given credits. The protocol is the one that the user forces, or else the
 * fastest. If libfabric cannot take a message now, the message stays in its
 * peer's list, and a later round of progress tries again. */
#include "channel/proto/cma.h"
#include "channel/proto/eager.h"
#include "channel/proto/ipc.h"
#include "channel/proto/nonce.h"
#include "channel/proto/rendezvous.h"

#include "base/status.h"

#include <rdma/fi_errno.h>
#include <string.h>

/* libfabric delivers payloads of up to this many bytes in order. A larger
 * payload may be overtaken by the next message. */
enum { ORDERED = 8192 };

static void send_count(nw_channel_request *request)
{
    struct nw_peer *peer = request->peer;

    /* if a HEAD or a first part was sent before, it returned the credits */
    if (!request->head_sent)
        peer->owed = 0;
    peer->credits -= request->result.protocol == NW_CHANNEL_TWO ? 2 : 1;
    peer->sent++;
    request->channel->counts.sent[request->result.protocol]++;
    request->channel->counts.bytes_sent += request->message.bytes;
}

static void send_posted(nw_channel_request *request)
{
    struct nw_peer *peer = request->peer;

    send_count(request);
    if (nw_eager_is_copied(request)) {
        nw_request_finish(request, NW_OK);
        return;
    }
    if (request->result.protocol == NW_CHANNEL_TWO &&
        request->message.bytes > ORDERED)
        peer->two = request;
    nw_list_remove(request);
    if (request->result.protocol == NW_CHANNEL_CMA)
        return;
    if (request->result.protocol == NW_CHANNEL_RENDEZVOUS) {
        nw_rendezvous_asked(request);
        return;
    }
    request->flights++;
    nw_list_add(&request->channel->flying, request);
}

/* Sends a FAILED message instead of the request's message, whose payload could
 * not be read from GPU memory, or for which memory was exhausted. The receive
 * that matches it then ends with an error. Returns false if libfabric cannot
 * take a message now. */
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
        nw_peer_lose(request->channel, peer);
    return true;
}

/* Sends the first waiting message of a peer. Returns false if it and the peer's
 * other messages must wait. */
static bool push_one(nw_channel_request *request)
{
    struct nw_peer *peer = request->peer;
    bool eager = request->result.protocol != NW_CHANNEL_RENDEZVOUS;
    uint32_t need = request->result.protocol == NW_CHANNEL_TWO ? 2 : 1;
    nw_status status;
    ssize_t code;

    if (peer->credits < need || peer->two)
        return false;
    if (request->status)
        return push_failed(request,
                           nw_fail(request->status, "no memory for a message"));
    if (eager && !request->payload) {
        status = nw_eager_prepare(request);
        if (status)
            return push_failed(request, status);
        if (!request->payload)
            return false;
    }
    request->wire.credits = (uint16_t)peer->owed;
    request->wire.order = peer->sent;
    code = nw_protocols[request->result.protocol].post(request);
    if (code == -FI_EAGAIN)
        return false;
    if (code)
        nw_peer_lose(request->channel, peer);
    else
        send_posted(request);
    return true;
}

static void push_peer(nw_channel *channel, struct nw_peer *peer)
{
    if (!nw_push_controls(channel, peer)) {
        channel->stuck = 1;
        return;
    }
    while (peer->waiting.head && !peer->lost)
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
        if (!channel->peer[i].lost &&
            (channel->peer[i].control || channel->peer[i].waiting.head))
            push_peer(channel, &channel->peer[i]);
}

/* Returns true if a message to a peer of this host is too large for shm to send
 * in NW_PARTS parts. For such a message, shm would wait for a status word from
 * the peer, which never comes if the peer was killed. So the message uses a
 * protocol in which the kernel copies it. */
static bool is_beyond(const nw_channel_request *request)
{
    size_t whole = nw_fabric_of(request->channel, request->peer)->whole;
    uint64_t bytes = request->message.bytes + NW_WIRE_HEADER;

    return request->peer->at_once && bytes > whole && bytes > NW_PARTS * whole;
}

static enum nw_channel_protocol send_choose(nw_channel_request *request)
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
        return reads ? NW_CHANNEL_CMA : NW_CHANNEL_GATHER;
    if (!protocol)
        protocol = large ? NW_CHANNEL_CMA
                         : nw_choose_protocol(channel, request, bytes).protocol;
    if (protocol == NW_CHANNEL_CMA && !nw_cma_may(request))
        protocol = request->gpu >= 0 ? NW_CHANNEL_PACK : NW_CHANNEL_GATHER;
    return large && protocol != NW_CHANNEL_CMA ? NW_CHANNEL_RENDEZVOUS
                                               : protocol;
}

/* Writes the header of a request's message into request->wire. Sets only the
 * fields that this kind of message uses, since the whole struct is several
 * times larger than the header of a small message. */
static void write_wire(nw_channel_request *request)
{
    static const uint8_t kinds[] = {
        [NW_CHANNEL_GATHER] = NW_WIRE_EAGER,
        [NW_CHANNEL_PACK] = NW_WIRE_EAGER,
        [NW_CHANNEL_TWO] = NW_WIRE_HEAD,
        [NW_CHANNEL_RENDEZVOUS] = NW_WIRE_RTS,
        [NW_CHANNEL_CMA] = NW_WIRE_CMA,
    };
    struct nw_wire *wire = &request->wire;

    wire->magic = NW_WIRE_MAGIC;
    wire->version = NW_WIRE_VERSION;
    wire->kind = kinds[request->result.protocol];
    wire->source = request->channel->options.rank;
    wire->tag = request->message.tag;
    wire->bytes = request->message.bytes;
    wire->id = request->id;
    nw_nonce_stamp(wire, request->peer);
}

/* Sends a message during the call of the program, without a list or a bounce
 * buffer. This is possible if no earlier message waits and the provider copies
 * the message before the send call returns. Returns false if the message must
 * be queued. */
static bool send_at_once(nw_channel_request *request)
{
    const struct nw_channel_message *message = &request->message;
    struct nw_peer *peer = request->peer;
    struct nw_endpoint *fabric = nw_fabric_of(request->channel, peer);

    if (!fabric->copies || fabric->local || request->gpu >= 0 ||
        request->result.protocol != NW_CHANNEL_GATHER ||
        message->bytes + nw_eager_head(request) > fabric->whole ||
        peer->waiting.head || peer->control || peer->two || !peer->credits)
        return false;
    request->wire.credits = (uint16_t)peer->owed;
    request->wire.order = peer->sent;
    request->payload = message->buffer;
    if (nw_eager_post_whole(request))
        return false;
    send_count(request);
    nw_request_over(request);
    return true;
}

void nw_send_start(nw_channel_request *request)
{
    nw_channel *channel = request->channel;
    struct nw_peer *peer = request->peer;
    enum nw_channel_protocol protocol = send_choose(request);

    request->result = (struct nw_channel_result){
        peer->rank, request->message.tag, request->message.bytes, protocol, 0};
    if (peer->lost) {
        nw_request_finish(request,
                          nw_fail(NW_EIO, "rank %d is gone", peer->rank));
        return;
    }
    if (protocol >= NW_CHANNEL_RENDEZVOUS)
        request->status = nw_request_know(request);
    peer->used = true;
    if (request->status) {
        request->result.protocol = NW_CHANNEL_GATHER; /* has nothing to free */
    } else {
        write_wire(request);
        if (send_at_once(request))
            return;
        if (protocol == NW_CHANNEL_RENDEZVOUS)
            nw_ipc_weigh(request);
        if (protocol == NW_CHANNEL_RENDEZVOUS && request->opening)
            request->wire.kind = NW_WIRE_ASK;
    }
    nw_list_add(&peer->waiting, request);
    push_peer(channel, peer);
    if (request->list == &peer->waiting)
        channel->counts.stalled++;
}

/* Handles the end of an eager send, which libfabric reports when the message's
 * buffer may be used again. */
void nw_send_done(nw_channel_request *request)
{
    if (request->peer->two == request)
        request->peer->two = NULL;
    nw_request_landed(request);
    if (!request->done)
        nw_request_finish(request, NW_OK);
}

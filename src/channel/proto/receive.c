/* SPDX-License-Identifier: BSD-3-Clause */
/* Matches arriving messages with receives. A message that matches no receive
 * stays in its slot, and its credit is not returned. So the memory for
 * unexpected messages is bounded by the number of slots. */
#include "channel/proto/cma.h"
#include "channel/proto/ipc.h"
#include "channel/proto/nonce.h"
#include "channel/proto/rendezvous.h"

#include "base/status.h"

#include <rdma/fi_errno.h>
#include <stddef.h>
#include <string.h>

static bool receive_fits(const nw_channel_request *request,
                         const struct nw_wire *wire)
{
    return (request->message.peer == NW_CHANNEL_ANY ||
            request->message.peer == wire->source) &&
           (request->message.tag == NW_CHANNEL_ANY ||
            request->message.tag == wire->tag);
}

static void receive_match(nw_channel *channel, struct nw_slot *slot,
                          nw_channel_request *request)
{
    const struct nw_wire *wire = &slot->wire;

    nw_list_remove(request);
    request->peer = &channel->peer[wire->source];
    request->result =
        (struct nw_channel_result){wire->source, wire->tag, wire->bytes,
                                   NW_CHANNEL_GATHER, NW_CHANNEL_COPY_AUTO};
    channel->counts.bytes_received += wire->bytes;
    if (wire->kind == NW_WIRE_EAGER) {
        nw_deliver(channel, slot, request);
        return;
    }
    if (wire->kind == NW_WIRE_FAILED) {
        nw_slot_release(channel, slot, 1);
        nw_request_finish(
            request,
            nw_fail(NW_EIO,
                    "rank %d could not read or store the message that it sends",
                    request->peer->rank));
        return;
    }
    if (wire->kind == NW_WIRE_CMA && nw_cma_receive(channel, slot, request))
        return;
    if (nw_wire_is_rts(wire)) {
        struct nw_wire rts = *wire;

        request->result.protocol = NW_CHANNEL_RENDEZVOUS;
        nw_slot_release(channel, slot, 1);
        nw_rendezvous_accept(request, &rts);
        return;
    }
    if (wire->kind == NW_WIRE_HEAD)
        request->result.protocol = NW_CHANNEL_TWO;
    if (wire->kind == NW_WIRE_HEAD &&
        (!slot->data || slot->filled < wire->bytes))
        slot->match = request;
    else
        nw_deliver(channel, slot, request);
}

static void receive_came(nw_channel *channel, struct nw_slot *slot)
{
    for (nw_channel_request *r = channel->posted.head; r; r = r->next)
        if (receive_fits(r, &slot->wire)) {
            receive_match(channel, slot, r);
            return;
        }
    channel->counts.unexpected++;
    slot->next = NULL;
    if (channel->unexpected)
        channel->unexpected_tail->next = slot;
    else
        channel->unexpected = slot;
    channel->unexpected_tail = slot;
}

void nw_receive_start(nw_channel_request *request)
{
    nw_channel *channel = request->channel;
    struct nw_slot *before = NULL;
    int32_t peer = request->message.peer;

    for (struct nw_slot *slot = channel->unexpected; slot; slot = slot->next) {
        if (!receive_fits(request, &slot->wire)) {
            before = slot;
            continue;
        }
        if (before)
            before->next = slot->next;
        else
            channel->unexpected = slot->next;
        if (slot == channel->unexpected_tail)
            channel->unexpected_tail = before;
        receive_match(channel, slot, request);
        return;
    }
    nw_list_add(&channel->posted, request);
    if (peer >= 0 && channel->peer[peer].lost)
        nw_request_finish(request, nw_fail(NW_EIO, "rank %d is gone", peer));
    else if (peer < 0 && channel->lost &&
             channel->lost == channel->options.count - 1)
        nw_request_finish(request, nw_fail(NW_EIO, "all other ranks are gone"));
}

/* Adds the credits that a message returns to those that this process may spend
 * at this peer. Returns false if the peer breaks the protocol:
 * - it returns more credits than were spent;
 * - it sends more messages than its credits allow;
 * - it starts a message before the payload of the previous one is complete;
 * - it announces a payload that does not fit into a slot. */
static bool is_honest(nw_channel *channel, struct nw_peer *peer,
                      const struct nw_wire *wire)
{
    uint32_t limit = channel->options.credits;

    if (wire->credits > limit - peer->credits)
        return false;
    peer->credits += wire->credits;
    if (wire->credits && peer->waiting.head)
        channel->stuck = 1;
    if (wire->kind <= NW_WIRE_RTS)
        peer->held += wire->kind == NW_WIRE_HEAD ? 2 : 1;
    return peer->held <= limit && (wire->kind > NW_WIRE_RTS || !peer->head) &&
           ((wire->kind != NW_WIRE_HEAD && wire->kind != NW_WIRE_PART) ||
            wire->bytes <= channel->options.slot_bytes);
}

static struct nw_slot *take_early(struct nw_peer *peer)
{
    for (struct nw_slot **at = &peer->early; *at; at = &(*at)->next)
        if ((*at)->wire.order == peer->expected) {
            struct nw_slot *slot = *at;

            *at = slot->next;
            return slot;
        }
    return NULL;
}

/* If the message in `slot` is the next one in the peer's order of sending,
 * matches it, and then all later messages that have already arrived. Otherwise
 * keeps it in peer->early. A provider may complete messages in another order,
 * since a small message can overtake a large one. */
static void came_in_turn(nw_channel *channel, struct nw_slot *slot,
                         struct nw_peer *peer)
{
    if (slot->wire.order != peer->expected) {
        slot->next = peer->early;
        peer->early = slot;
        return;
    }
    do {
        peer->expected++;
        receive_came(channel, slot);
    } while (!peer->lost && (slot = take_early(peer)));
}

/* Appends a later part to the first part of its message, in whose slot there is
 * space for the whole message. The last part completes the message. */
static void part_came(nw_channel *channel, struct nw_slot *slot,
                      struct nw_slot *head, size_t bytes)
{
    struct nw_peer *peer = &channel->peer[head->wire.source];

    memcpy(head->payload + head->filled, slot->memory, bytes);
    head->filled += bytes;
    nw_slot_post(channel, slot);
    if (head->filled < head->wire.bytes)
        return;
    peer->head = NULL;
    head->wire.kind = NW_WIRE_EAGER;
    came_in_turn(channel, head, peer);
}

/* Handles the payload of a message whose HEAD has arrived. The payload comes
 * whole or in pieces; later pieces are appended to the slot of the first. */
static void data_came(nw_channel *channel, struct nw_slot *slot,
                      struct nw_slot *head, size_t bytes)
{
    if (head->data) {
        memcpy(head->payload + head->filled, slot->memory, bytes);
        nw_slot_post(channel, slot);
    } else {
        head->data = slot;
        head->payload = slot->memory;
    }
    head->filled += bytes;
    if (head->filled < head->wire.bytes)
        return;
    channel->peer[head->wire.source].head = NULL;
    if (head->match)
        nw_deliver(channel, head, head->match);
}

NW_RARE static void receive_refuse(nw_channel *channel, struct nw_slot *slot)
{
    channel->counts.malformed++;
    nw_slot_post(channel, slot);
}

/* Refuses the message and gives up the peer that sent it, because it has broken
 * the protocol. */
NW_RARE static void receive_breach(nw_channel *channel, struct nw_slot *slot,
                                   struct nw_peer *peer)
{
    receive_refuse(channel, slot);
    nw_peer_lose(channel, peer);
}

NW_RARE static void payload_came(nw_channel *channel, struct nw_slot *slot,
                                 struct nw_peer *peer, size_t bytes)
{
    struct nw_slot *head = peer->head;

    if (peer->lost) {
        nw_slot_post(channel, slot);
        return;
    }
    if (!head || bytes > head->wire.bytes - head->filled) {
        receive_breach(channel, slot, peer);
        return;
    }
    if (head->wire.kind == NW_WIRE_PART)
        part_came(channel, slot, head, bytes);
    else
        data_came(channel, slot, head, bytes);
}

/* Handles a control message, which needs no matching receive: a message of a
 * rendezvous after its RTS, a return of credits or BYE. */
NW_RARE static void control_came(nw_channel *channel, struct nw_slot *slot,
                                 struct nw_peer *peer)
{
    struct nw_wire wire = slot->wire;

    nw_slot_post(channel, slot);
    if (wire.kind == NW_WIRE_CTS)
        nw_rendezvous_granted(channel, peer, &wire);
    else if (wire.kind == NW_WIRE_DONE)
        nw_rendezvous_filled(channel, peer, &wire);
    else if (wire.kind == NW_WIRE_OPEN)
        nw_ipc_asked(channel, peer, &wire);
    else if (wire.kind == NW_WIRE_ABORT)
        nw_rendezvous_aborted(channel, peer, &wire);
    else if (wire.kind == NW_WIRE_BYE)
        peer->bye = true;
}

static void message_came(nw_channel *channel, struct nw_slot *slot,
                         struct nw_peer *peer)
{
    if (slot->wire.kind == NW_WIRE_PART) {
        peer->head = slot; /* the message is matched after its last part has
                              arrived */
        return;
    }
    if (slot->wire.kind <= NW_WIRE_RTS) {
        if (slot->wire.kind == NW_WIRE_HEAD)
            peer->head = slot;
        came_in_turn(channel, slot, peer);
        return;
    }
    control_came(channel, slot, peer);
}

/* Decodes the header from the word that libfabric reports beside the payload.
 * The word has only the lower 8 bits of the sequence number; they suffice,
 * because no more messages are in flight than there are credits. Returns false
 * if the word is not a valid header, or if messages of this endpoint have whole
 * headers. */
static bool read_word(nw_channel *channel, struct nw_slot *slot,
                      const struct fi_cq_data_entry *entry)
{
    struct nw_wire *wire = &slot->wire;
    uint16_t expected;

    if (channel->head[slot->fabric - channel->fabric] ||
        !nw_wire_read_word(entry->data, entry->len, channel->options.count,
                           wire))
        return false;
    expected = channel->peer[wire->source].expected;
    wire->order = (uint16_t)(expected + (uint8_t)(wire->order - expected));
    slot->payload = slot->memory;
    return true;
}

static bool receive_read_header(nw_channel *channel, struct nw_slot *slot,
                                const struct fi_cq_data_entry *entry)
{
    int32_t count = channel->options.count;

    if (entry->flags & FI_REMOTE_CQ_DATA)
        return read_word(channel, slot, entry);
    if (!nw_wire_read_eager(slot->memory, entry->len, count, &slot->wire) &&
        nw_wire_read(slot->memory, entry->len, count, &slot->wire))
        return false;
    if (!nw_nonce_is_ours(channel, &slot->wire))
        return false;
    slot->payload = slot->memory + NW_WIRE_HEADER;
    slot->filled = entry->len - NW_WIRE_HEADER;
    return true;
}

void nw_slot_arrived(nw_channel *channel, struct nw_slot *slot,
                     const struct fi_cq_data_entry *entry)
{
    struct nw_peer *peer;

    if (entry->flags & FI_REMOTE_CQ_DATA && !(entry->data & NW_WIRE_WORD)) {
        if (nw_nonce_word_is_ours(channel, slot->fabric - channel->fabric,
                                  entry->data))
            payload_came(channel, slot, &channel->peer[entry->data & INT32_MAX],
                         entry->len);
        else
            receive_refuse(channel, slot);
        return;
    }
    if (!receive_read_header(channel, slot, entry)) {
        receive_refuse(channel, slot);
        return;
    }
    peer = &channel->peer[slot->wire.source];
    if (peer->lost) {
        nw_slot_post(channel, slot);
    } else if (!is_honest(channel, peer, &slot->wire)) {
        receive_breach(channel, slot, peer);
    } else {
        peer->used = true;
        message_came(channel, slot, peer);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Receive slots are buffers for arriving messages. Posts them to libfabric, and
 * returns credits to the senders of delivered messages: one credit allows one
 * message that needs a slot. */
#include "channel/state.h"

#include <rdma/fi_errno.h>

/* Adds a slot to the list channel->unposted, which the next round of progress
 * posts to libfabric. So the delivery of the slot's message need not wait for
 * that. */
static void slot_lay(nw_channel *channel, struct nw_slot *slot)
{
    slot->next = channel->unposted;
    channel->unposted = slot;
}

void nw_slot_post(nw_channel *channel, struct nw_slot *slot)
{
    size_t bytes = channel->options.slot_bytes + sizeof(struct nw_wire);
    struct nw_endpoint *fabric = slot->fabric;
    int f = (int)(fabric - channel->fabric);
    void *descriptor = NULL;

    slot->op.kind = NW_OP_SLOT;
    slot->data = NULL;
    slot->match = NULL;
    slot->looping = false;
    if (!nw_endpoint_describe(fabric, channel->slot_memory,
                              channel->slots_bytes, &channel->slots_region[f],
                              &descriptor) &&
        !fi_recv(fabric->ep, slot->memory, bytes, descriptor, FI_ADDR_UNSPEC,
                 &slot->op))
        return;
    slot_lay(channel, slot);
}

static void send_credit(nw_channel *channel, struct nw_peer *peer)
{
    struct nw_wire wire = {.kind = NW_WIRE_CREDIT};

    peer->credit_queued = true;
    nw_send_control(peer, channel, &wire);
}

/* Notes that n more credits must be returned to a peer. The next message to
 * this peer returns them. If at least half of all credits are now to be
 * returned, a control message returns them immediately, because the peer may
 * have to wait. */
static void give_back(nw_channel *channel, struct nw_peer *peer, uint32_t n)
{
    peer->held -= n;
    peer->owed += n;
    if (peer->owed >= (channel->options.credits + 1) / 2 &&
        !peer->credit_queued)
        send_credit(channel, peer);
}

void nw_slot_release(nw_channel *channel, struct nw_slot *slot, uint32_t n)
{
    struct nw_peer *peer = &channel->peer[slot->wire.source];
    struct nw_slot *data = slot->data;

    slot_lay(channel, slot);
    if (data)
        slot_lay(channel, data);
    give_back(channel, peer, n);
}

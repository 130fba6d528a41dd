/* SPDX-License-Identifier: BSD-3-Clause */
/* Control messages, such as CTS, DONE and returned credits. They need no
 * credit. If libfabric cannot take a control message at once, it is queued, and
 * is sent before all other messages to this peer. */

#include "channel/proto/nonce.h"

#include "base/array.h"
#include "base/status.h"

#include <rdma/fi_errno.h>

nw_status nw_controls_new(nw_channel *channel)
{
    struct nw_controls *all = NULL;
    nw_status status = nw_alloc(1, sizeof *all, &all);

    if (status)
        return status;
    all->older = channel->controls_made;
    channel->controls_made = all;
    for (int i = 0; i < NW_CONTROLS; i++) {
        all->control[i].among = all;
        all->control[i].next = channel->spare_control;
        channel->spare_control = &all->control[i];
    }
    return NW_OK;
}

static struct nw_control *control_new(nw_channel *channel)
{
    struct nw_control *control;

    if (!channel->spare_control && nw_controls_new(channel))
        return NULL;
    control = channel->spare_control;
    channel->spare_control = control->next;
    control->op.kind = NW_OP_CONTROL;
    control->next = NULL;
    return control;
}

void nw_control_done(nw_channel *channel, struct nw_control *control)
{
    if (control->wire.kind == NW_WIRE_CREDIT)
        control->peer->credit_queued = false;
    control->next = channel->spare_control;
    channel->spare_control = control;
}

static ssize_t control_post(nw_channel *channel, struct nw_control *control)
{
    struct nw_peer *peer = control->peer;
    struct nw_endpoint *fabric = nw_fabric_of(channel, peer);
    void *descriptor = NULL;
    ssize_t code;

    if (nw_endpoint_describe(fabric, control->among, sizeof *control->among,
                             &control->among->region[peer->fabric],
                             &descriptor))
        return -FI_ENOMEM;
    control->wire.credits = (uint16_t)peer->owed;
    code = fi_send(fabric->ep, &control->wire, nw_wire_size(control->wire.kind),
                   descriptor, peer->address, &control->op);
    if (!code) {
        peer->owed = 0;
        channel->controls++;
    }
    return code;
}

/* Returns a new control message to a peer, or NULL if memory is exhausted. */
static struct nw_control *control_for(nw_channel *channel, struct nw_peer *peer,
                                      const struct nw_wire *wire)
{
    struct nw_control *control = control_new(channel);

    if (!control)
        return NULL;
    control->peer = peer;
    control->wire = *wire;
    control->wire.magic = NW_WIRE_MAGIC;
    control->wire.version = NW_WIRE_VERSION;
    control->wire.source = channel->options.rank;
    nw_nonce_stamp(&control->wire, peer);
    return control;
}

ssize_t nw_control_now(nw_channel *channel, struct nw_peer *peer,
                       const struct nw_wire *wire)
{
    struct nw_control *control = control_for(channel, peer, wire);
    ssize_t code = control ? control_post(channel, control) : -FI_ENOMEM;

    if (code && control)
        nw_control_done(channel, control);
    return code;
}

bool nw_push_controls(nw_channel *channel, struct nw_peer *peer)
{
    while (peer->control) {
        struct nw_control *control = peer->control;
        ssize_t code = control_post(channel, control);

        if (code == -FI_EAGAIN)
            return false;
        peer->control = control->next;
        if (code) {
            nw_control_done(channel, control);
            nw_peer_lose(channel, peer);
            return true;
        }
    }
    return true;
}

void nw_send_control(struct nw_peer *peer, nw_channel *channel,
                     const struct nw_wire *wire)
{
    struct nw_control *control;

    if (peer->lost)
        return;
    control = control_for(channel, peer, wire);
    if (!control) {
        nw_peer_lose(channel, peer);
        return;
    }
    if (peer->control)
        peer->control_tail->next = control;
    else
        peer->control = control;
    peer->control_tail = control;
    if (!nw_push_controls(channel, peer))
        channel->stuck = 1;
}

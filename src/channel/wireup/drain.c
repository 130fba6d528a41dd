/* SPDX-License-Identifier: BSD-3-Clause */
/* From a peer that was given up to its end. It may live, and libfabric be in
 * the middle of what was sent to it or of what it writes: the memory of such a
 * request is its owner's again only once that is over. What we sent says so
 * itself. What comes ends with the connection, and that ends when the peer is
 * asked to write where nothing can be: its libfabric (tcp; README.md) then
 * disables its endpoint, and all that is under way at ours is cancelled. */
#include "channel/proto/protocols.h"

#include "base/clock.h"
#include "base/status.h"

#include <rdma/fi_errno.h>
#include <stdio.h>

/* Nothing is told of a peer that does not answer; of a dead one only what the
 * kernel has taken is still to come. */
enum { PATIENCE_NS = 1000000000, DEAD_NS = 100000000 };

static bool is_late(const nw_channel *channel, const struct nw_peer *peer)
{
    uint64_t waited = nw_clock_ns() - peer->lost_ns;

    return waited > PATIENCE_NS || (waited > DEAD_NS && peer->here &&
                                    nw_peers_has_died(channel, peer->pid));
}

/* Whether it was granted what was not written yet. */
static bool is_granted(const nw_channel_request *request)
{
    return !request->is_send && request->id &&
           request->moved < request->granted;
}

static bool is_busy(const nw_channel_request *request)
{
    bool busy = request->is_send
                    ? request->flights && !request->bounce
                    : is_granted(request) && !request->peer->parted;

    return busy && !is_late(request->channel, request->peer);
}

bool nw_drain_keeps(nw_channel_request *request, nw_status status)
{
    nw_channel *channel = request->channel;
    struct nw_peer *peer = request->peer;

    /* it has failed, however well the rest of it goes */
    if (nw_request_is_draining(request))
        return !status || is_busy(request);
    if (!peer || !peer->lost || !nw_fabric_of(channel, peer)->streams ||
        !is_busy(request))
        return false;
    nw_list_remove(request);
    request->status = status;
    snprintf(request->text, sizeof request->text, "%s", nw_error_text());
    nw_protocols[request->result.protocol].revoke(request);
    nw_list_add(&channel->parting, request);
    return true;
}

/* Where sending fails there may be something to read still: it is asked again,
 * until all is cancelled. */
void nw_drain_refused(struct nw_peer *peer, int error)
{
    peer->parted |= error == FI_ECANCELED;
    peer->parting = false;
}

static void drain_ask(nw_channel *channel, struct nw_peer *peer)
{
    struct nw_endpoint_write nowhere = {
        .from = &peer->rank,
        .bytes = sizeof peer->rank,
        .peer = peer->address,
        .key = UINT64_MAX,
        .context = &peer->op,
    };

    peer->op.kind = NW_OP_DRAIN;
    peer->parting = !nw_endpoint_write(nw_fabric_of(channel, peer), &nowhere);
}

bool nw_drain_is_over(nw_channel_request *request)
{
    if (!is_busy(request))
        return true;
    if (is_granted(request) && !request->peer->parting)
        drain_ask(request->channel, request->peer);
    return false;
}

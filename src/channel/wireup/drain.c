/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends the requests with a peer that was given up. The peer may still be alive,
 * and libfabric may still use the memory of a request. So with the provider
 * tcp, a request ends only after its operations have ended or a time limit has
 * passed. For sends, libfabric reports their completion. Writes by the peer end
 * with the connection. To end the connection, we post a write with an invalid
 * key. The peer's tcp provider then disables its endpoint, and our libfabric
 * cancels all operations with the peer. */
#include "channel/proto/protocols.h"

#include "base/clock.h"
#include "base/status.h"

#include <rdma/fi_errno.h>
#include <stdio.h>

/* Time limits in ns for the end of a request. PATIENCE_NS applies to a peer
 * that does not answer. DEAD_NS applies to a peer whose process has died: then
 * only data that the kernel already holds can still arrive. */
enum { PATIENCE_NS = 1000000000, DEAD_NS = 100000000 };

static bool is_late(const nw_channel *channel, const struct nw_peer *peer)
{
    uint64_t waited = nw_clock_ns() - peer->lost_ns;

    return waited > PATIENCE_NS || (waited > DEAD_NS && peer->here &&
                                    nw_peers_has_died(channel, peer->pid));
}

/* Returns true if the peer may still write into memory that this receive has
 * granted. */
static bool is_granted(const nw_channel_request *request)
{
    return !request->is_send && request->id &&
           request->moved < request->granted;
}

static bool drain_is_busy(const nw_channel_request *request)
{
    bool busy = request->is_send
                    ? request->flights && !request->bounce
                    : is_granted(request) && !request->peer->drained;

    return busy && !is_late(request->channel, request->peer);
}

bool nw_drain_keeps(nw_channel_request *request, nw_status status)
{
    nw_channel *channel = request->channel;
    struct nw_peer *peer = request->peer;

    /* a request in this state has failed, even if its last operations succeed
     */
    if (nw_request_is_draining(request))
        return !status || drain_is_busy(request);
    if (!peer || !peer->lost || !nw_fabric_of(channel, peer)->streams ||
        !drain_is_busy(request))
        return false;
    nw_list_remove(request);
    request->status = status;
    snprintf(request->text, sizeof request->text, "%s", nw_error_text());
    nw_protocols[request->result.protocol].revoke(request);
    nw_list_add(&channel->draining, request);
    return true;
}

/* Called when the write with the invalid key, which is meant to end the
 * connection, has failed. If the error is that libfabric has cancelled all
 * operations with the peer, the connection has ended. Otherwise data may still
 * arrive, and the next nw_drain_is_over posts another such write. */
void nw_drain_refused(struct nw_peer *peer, int error)
{
    peer->drained |= error == FI_ECANCELED;
    peer->draining = false;
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
    peer->draining = !nw_endpoint_write(nw_fabric_of(channel, peer), &nowhere);
}

bool nw_drain_is_over(nw_channel_request *request)
{
    if (!drain_is_busy(request))
        return true;
    if (is_granted(request) && !request->peer->draining)
        drain_ask(request->channel, request->peer);
    return false;
}

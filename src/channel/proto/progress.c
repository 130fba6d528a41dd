/* SPDX-License-Identifier: BSD-3-Clause */
/* One round of progress: handles the completions that libfabric reports, then
 * retries operations that libfabric could not take earlier. */
#include "channel/proto/cma.h"
#include "channel/proto/ipc.h"
#include "channel/proto/rendezvous.h"

#include "base/clock.h"
#include "base/status.h"

#include <rdma/fi_errno.h>

enum { AT_ONCE = 16, LOOK_TURNS = 64, LOOK_NS = 100000000 };

static void progress_finished(nw_channel *channel,
                              const struct fi_cq_data_entry *entry,
                              nw_status status)
{
    struct nw_op *op = entry->op_context;

    switch (op->kind) {
    case NW_OP_SLOT:
        if (((struct nw_slot *)op)->looping)
            nw_deliver_looped(channel, (struct nw_slot *)op, status);
        else if (status)
            nw_slot_post(channel, (struct nw_slot *)op);
        else
            nw_slot_arrived(channel, (struct nw_slot *)op, entry);
        break;
    case NW_OP_SEND: {
        nw_channel_request *request = (nw_channel_request *)op;

        if (status) {
            nw_peer_lose(channel, request->peer);
            nw_request_finish(request, nw_fail(NW_EIO, "rank %d is gone",
                                               request->peer->rank));
        }
        nw_send_done(request);
        break;
    }
    case NW_OP_CONTROL: {
        struct nw_control *control = (struct nw_control *)op;

        channel->controls--;
        if (status)
            nw_peer_lose(channel, control->peer);
        nw_control_done(channel, control);
        break;
    }
    case NW_OP_WRITE:
        nw_rendezvous_written(channel, (struct nw_flight *)op, status);
        break;
    /* A peer that was given up should refuse this write, since the refusal ends
     * the connection. Here the write has succeeded instead, so the draining
     * requests of the peer end only at the time limit of wireup/drain.c. */
    case NW_OP_DRAIN:
        break;
    }
}

/* Gives up all peers that are reached through this endpoint. Called if even
 * reading the completion queue fails, which means that the provider has failed.
 * Returns true if any peer was given up. */
static bool progress_gone(nw_channel *channel, const struct nw_endpoint *fabric)
{
    bool any = false;

    for (int32_t i = 0; i < channel->options.count; i++) {
        struct nw_peer *peer = &channel->peer[i];

        if (&channel->fabric[peer->fabric] != fabric || peer->lost)
            continue;
        nw_peer_lose(channel, peer);
        any = true;
    }
    return any;
}

static bool progress_failed(nw_channel *channel, struct nw_endpoint *fabric)
{
    struct nw_endpoint_error said = {0};
    const struct fi_cq_err_entry *error = &said.known;
    struct fi_cq_data_entry entry = {0};
    ssize_t n = fi_cq_readerr(fabric->cq, &said.known, 0);

    if (n < 0 && n != -FI_EAGAIN)
        return progress_gone(channel, fabric);
    if (n != 1 || !error->op_context)
        return false;
    entry.op_context = error->op_context;
    if (((struct nw_op *)error->op_context)->kind == NW_OP_DRAIN) {
        nw_drain_refused(error->op_context, error->err);
        return true;
    }
    if (error->err == FI_ETRUNC || error->err == FI_EMSGSIZE)
        channel->counts.malformed++;
    progress_finished(channel, &entry,
                      nw_fail(NW_EIO, "provider %s reports error %d",
                              fabric->provider, error->err));
    return true;
}

static bool read_queue(nw_channel *channel, struct nw_endpoint *fabric)
{
    struct fi_cq_data_entry entries[AT_ONCE];
    ssize_t n = fi_cq_read(fabric->cq, entries, AT_ONCE);

    if (n == -FI_EAGAIN)
        return false;
    if (n == -FI_EAVAIL)
        return progress_failed(channel, fabric);
    if (n < 0)
        return progress_gone(channel, fabric);
    /* Completions of remote writes by peers are ignored, because a message
     * announces each of these writes. Such a completion has the flag
     * FI_REMOTE_WRITE, or no context with shm of libfabric 2.1. */
    for (ssize_t i = 0; i < n; i++)
        if (entries[i].op_context && !(entries[i].flags & FI_REMOTE_WRITE))
            progress_finished(channel, &entries[i], NW_OK);
    return n > 0;
}

static bool is_anything_waiting(const nw_channel *channel)
{
    return channel->loops || channel->stuck || channel->movers.head ||
           channel->starved.head || channel->draining.head;
}

static void post_slots(nw_channel *channel)
{
    struct nw_slot *slot = channel->unposted;

    channel->unposted = NULL;
    while (slot) {
        struct nw_slot *next = slot->next;

        nw_slot_post(channel, slot);
        slot = next;
    }
}

static void end_drained(nw_channel *channel)
{
    nw_channel_request *next;

    for (nw_channel_request *r = channel->draining.head; r; r = next) {
        next = r->next;
        if (!nw_drain_is_over(r))
            continue;
        (void)nw_fail(r->status, "%s", r->text);
        nw_request_finish(r, r->status);
    }
}

NW_RARE static void try_again(nw_channel *channel)
{
    if (channel->loops)
        nw_deliver_retry(channel);
    nw_send_push(channel);
    nw_rendezvous_push(channel);
    if (channel->draining.head)
        end_drained(channel);
}

bool nw_progress(nw_channel *channel)
{
    bool any = false;

    if (channel->unposted)
        post_slots(channel);
    for (int i = 0; i < channel->fabric_count; i++)
        if (channel->fabric[i].cq)
            any |= read_queue(channel, &channel->fabric[i]);
    if (channel->words)
        any |= nw_cma_poll(channel);
    if (is_anything_waiting(channel))
        try_again(channel);
    if (++channel->turns % LOOK_TURNS == 0) {
        uint64_t now = nw_clock_ns();

        if (now - channel->looked_ns > LOOK_NS) {
            channel->looked_ns = now;
            nw_peers_look(channel);
            nw_ipc_look(channel, now);
        }
    }
    if (channel->unreaped)
        nw_peers_reap(channel);
    return any;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends the requests with a peer that was given up as lost, and frees the slots
 * and control messages that belong to this peer. */
#include "channel/proto/ipc.h"
#include "channel/proto/rendezvous.h"

#include "base/status.h"

static void reap_list(struct nw_list *list, const struct nw_peer *peer)
{
    nw_channel_request *next;

    for (nw_channel_request *r = list->head; r; r = next) {
        next = r->next;
        if (r->peer == peer || (!r->is_send && r->message.peer == peer->rank))
            nw_request_finish(r,
                              nw_fail(NW_EIO, "rank %d is gone", peer->rank));
    }
}

/* Ends all rendezvous requests with the lost peer. Resources that libfabric
 * still uses are freed later, at the latest when the channel closes. */
static void reap_known(nw_channel *channel, const struct nw_peer *peer)
{
    for (size_t i = 0; i < channel->known_count; i++) {
        nw_channel_request *request = channel->known[i];

        if (!request || request->peer != peer)
            continue;
        nw_rendezvous_peer_lost(request);
        nw_request_finish(request,
                          nw_fail(NW_EIO, "rank %d is gone", peer->rank));
    }
}

/* Drops the lost peer's message of which only the header (HEAD or PART) has
 * arrived; its payload will never come. */
static void reap_head(nw_channel *channel, struct nw_peer *peer)
{
    struct nw_slot *head = peer->head, **at = &channel->unexpected,
                   *last = NULL;

    if (!head)
        return;
    peer->head = NULL;
    if (head->match) {
        nw_request_finish(head->match,
                          nw_fail(NW_EIO, "rank %d is gone", peer->rank));
    } else {
        while (*at && *at != head) {
            last = *at;
            at = &(*at)->next;
        }
        if (*at)
            *at = head->next;
        if (channel->unexpected_tail == head)
            channel->unexpected_tail = last;
    }
    if (head->data)
        nw_slot_post(channel, head->data);
    nw_slot_post(channel, head);
}

/* Drops the lost peer's messages that have overtaken earlier ones. They cannot
 * be delivered in order, because the earlier messages will never come. */
static void reap_early(nw_channel *channel, struct nw_peer *peer)
{
    while (peer->early) {
        struct nw_slot *slot = peer->early;

        peer->early = slot->next;
        if (slot == peer->head)
            peer->head = NULL;
        if (slot->data)
            nw_slot_post(channel, slot->data);
        nw_slot_post(channel, slot);
    }
}

/* Drops the lost peer's unmatched messages, beginning with the first that is
 * announced but not transferred (RTS, ASK, CMA). All later ones of this peer
 * are dropped, too: they must not match the receives that were meant for the
 * announced ones. */
static void reap_announced(nw_channel *channel, struct nw_peer *peer)
{
    struct nw_slot **at = &channel->unexpected, *last = NULL;
    bool missing = false;

    while (*at) {
        struct nw_slot *slot = *at;
        bool its = slot->wire.source == peer->rank;

        missing |= its && nw_wire_is_rts(&slot->wire);
        if (its && missing) {
            *at = slot->next;
            if (slot->data)
                nw_slot_post(channel, slot->data);
            nw_slot_post(channel, slot);
        } else {
            last = slot;
            at = &slot->next;
        }
    }
    channel->unexpected_tail = last;
}

static void reap_wildcards(nw_channel *channel)
{
    nw_channel_request *next;

    if (channel->lost < channel->options.count - 1)
        return;
    for (nw_channel_request *r = channel->posted.head; r; r = next) {
        next = r->next;
        if (r->message.peer == NW_CHANNEL_ANY)
            nw_request_finish(r, nw_fail(NW_EIO, "all other ranks are gone"));
    }
}

static void reap_controls(nw_channel *channel, struct nw_peer *peer)
{
    while (peer->control) {
        struct nw_control *control = peer->control;

        peer->control = control->next;
        nw_control_done(channel, control);
    }
}

static void reap_peer(nw_channel *channel, struct nw_peer *peer)
{
    peer->reaped = true;
    reap_controls(channel, peer);
    reap_list(&peer->waiting, peer);
    reap_list(&channel->flying, peer);
    reap_list(&channel->posted, peer);
    reap_known(channel, peer);
    reap_early(channel, peer);
    reap_head(channel, peer);
    reap_announced(channel, peer);
    reap_wildcards(channel);
    (void)nw_ipc_forget(channel, peer);
}

void nw_peers_reap(nw_channel *channel)
{
    channel->unreaped = false;
    for (int32_t i = 0; i < channel->options.count; i++)
        if (channel->peer[i].lost && !channel->peer[i].reaped)
            reap_peer(channel, &channel->peer[i]);
}

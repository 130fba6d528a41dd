/* SPDX-License-Identifier: BSD-3-Clause */
/* Rendezvous: the receiver's side (rendezvous_receive.c), the sender's
 * (rendezvous_send.c), and what both share (rendezvous_common.c). */
#ifndef NW_CHANNEL_PROTO_RENDEZVOUS_H
#define NW_CHANNEL_PROTO_RENDEZVOUS_H

#include "channel/state.h"

static inline struct nw_endpoint *
nw_rendezvous_fabric(const nw_channel_request *request)
{
    return nw_fabric_of(request->channel, request->peer);
}

/* Returns true if the request's GPU memory is copied through pinned staging
 * pieces, false if the adapter accesses the request's memory directly. */
static inline bool nw_rendezvous_is_staged(const nw_channel_request *request)
{
    return request->gpu >= 0 &&
           (request->staged || !nw_rendezvous_fabric(request)->reach);
}

/* Both functions return a piece of an array of NW_PIECES, or NULL if all are in
 * use; nw_piece_take also assigns the piece to the request. */
struct nw_piece *nw_piece_unused(struct nw_piece *pieces);
struct nw_piece *nw_piece_take(struct nw_piece *pieces,
                               nw_channel_request *request);
/* Registers the request's GPU memory once for the message. Sets request->staged
 * if the memory cannot be registered; that is not an error. */
NW_MUST_CHECK nw_status nw_rendezvous_keep_region(nw_channel_request *request);
/* Ends the request with an error. The other end gets an ABORT for its request
 * `theirs` after our last write to it has ended. */
void nw_rendezvous_fail(nw_channel_request *request, uint64_t theirs,
                        nw_status status);

/* proto/rendezvous_send.c */
void nw_rendezvous_push_writes(nw_channel *channel);

void nw_rendezvous_accept(nw_channel_request *request,
                          const struct nw_wire *rts);
void nw_rendezvous_asked(nw_channel_request *request);
void nw_rendezvous_granted(nw_channel *channel, struct nw_peer *peer,
                           const struct nw_wire *cts);
void nw_rendezvous_filled(nw_channel *channel, struct nw_peer *peer,
                          const struct nw_wire *done);
void nw_rendezvous_aborted(nw_channel *channel, struct nw_peer *peer,
                           const struct nw_wire *abort);
void nw_rendezvous_written(nw_channel *channel, struct nw_flight *flight,
                           nw_status status);
void nw_rendezvous_push(nw_channel *channel);
/* Releases the staging pieces that a request to a lost peer holds: its writes
 * may never end, and other requests need the pieces. */
void nw_rendezvous_peer_lost(nw_channel_request *request);
/* Frees the grants of a request. No write of the request may be in flight,
 * unless libfabric is closed. */
void nw_rendezvous_drop_grants(nw_channel_request *request);

#endif

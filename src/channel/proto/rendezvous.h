/* SPDX-License-Identifier: BSD-3-Clause */
/* The protocol NW_CHANNEL_RENDEZVOUS. The sender announces a message (RTS), the
 * receiver grants memory (CTS), and the sender writes into it and reports this
 * (DONE). The receiver's functions are in rendezvous_receive.c, the sender's in
 * rendezvous_send.c, and common ones in rendezvous_common.c. */
#ifndef NW_CHANNEL_PROTO_RENDEZVOUS_H
#define NW_CHANNEL_PROTO_RENDEZVOUS_H

#include "channel/state.h"

static inline struct nw_endpoint *
nw_rendezvous_fabric(const nw_channel_request *request)
{
    return nw_fabric_of(request->channel, request->peer);
}

/* Returns true if the request's GPU memory must be copied through staging
 * pieces (pinned host memory), because the NIC cannot access it. Returns false
 * for host memory. */
static inline bool nw_rendezvous_is_staged(const nw_channel_request *request)
{
    return request->gpu >= 0 &&
           (request->staged || !nw_rendezvous_fabric(request)->hmem);
}

/* A staging piece is a part of pinned host memory. Both functions return one
 * from the array `pieces` of NW_PIECES. nw_piece_unused returns a free piece,
 * or NULL. nw_piece_take also assigns it to the request. If none is free, it
 * takes one from a request that filled it before its grant arrived, or returns
 * NULL. */
struct nw_piece *nw_piece_unused(struct nw_piece *pieces);
struct nw_piece *nw_piece_take(struct nw_piece *pieces,
                               nw_channel_request *request);
/* Registers the request's GPU memory with libfabric, unless it is already
 * registered. If libfabric refuses the memory (NW_EIO), sets request->staged
 * and returns NW_OK, because the message can go through staging pieces. */
NW_MUST_CHECK nw_status nw_rendezvous_keep_region(nw_channel_request *request);
/* Ends the request with the error `status`. When its last write to the peer has
 * ended, the peer gets an ABORT for its own request, whose id is `theirs`. */
void nw_rendezvous_fail(nw_channel_request *request, uint64_t theirs,
                        nw_status status);

/* Starts the remote writes that had to wait for libfabric or for a staging
 * piece. */
void nw_rendezvous_push_writes(nw_channel *channel);

/* For the receiver: starts the rendezvous of a receive that has matched the
 * message announced by `rts`: offers or grants its memory. */
void nw_rendezvous_accept(nw_channel_request *request,
                          const struct nw_wire *rts);
/* For the sender, after its RTS was sent: copies the first bytes of a message
 * that goes through staging pieces while the receiver answers. Does nothing if
 * many messages are in flight. */
void nw_rendezvous_asked(nw_channel_request *request);
/* For the sender: handles a CTS from `peer`: writes into the memory that it
 * grants. */
void nw_rendezvous_granted(nw_channel *channel, struct nw_peer *peer,
                           const struct nw_wire *cts);
/* For the receiver: handles a DONE from `peer`. The receive ends when all its
 * bytes have arrived. */
void nw_rendezvous_filled(nw_channel *channel, struct nw_peer *peer,
                          const struct nw_wire *done);
/* Handles an ABORT from `peer`, which cannot finish its part of this
 * rendezvous: ends the request with an error. */
void nw_rendezvous_aborted(nw_channel *channel, struct nw_peer *peer,
                           const struct nw_wire *abort);
/* For the sender: handles libfabric's completion of one remote write. */
void nw_rendezvous_written(nw_channel *channel, struct nw_flight *flight,
                           nw_status status);
/* Tries again the remote writes and grants that had to wait. Called in each
 * round of progress. */
void nw_rendezvous_push(nw_channel *channel);
/* Releases the staging pieces of a request whose peer is lost. Writes from
 * these pieces may never end, but other requests need the pieces. */
void nw_rendezvous_peer_lost(nw_channel_request *request);
/* Frees the request's grants and the remote writes that belong to them. The
 * caller must make sure that all these writes have ended or that libfabric is
 * closed. */
void nw_rendezvous_drop_grants(nw_channel_request *request);

#endif

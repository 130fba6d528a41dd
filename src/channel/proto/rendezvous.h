/* SPDX-License-Identifier: BSD-3-Clause */
/* What both sides of a rendezvous share (proto/rendezvous.c). */
#ifndef NW_CHANNEL_PROTO_RENDEZVOUS_H
#define NW_CHANNEL_PROTO_RENDEZVOUS_H

#include "channel/state.h"

static inline struct nw_endpoint *
nw_rendezvous_fabric(const nw_channel_request *request)
{
    return nw_fabric_of(request->channel, request->peer);
}

/* Whether its GPU memory is passed through pieces. */
static inline bool nw_rendezvous_is_staged(const nw_channel_request *request)
{
    return request->gpu >= 0 &&
           (request->staged || !nw_rendezvous_fabric(request)->reach);
}

/* NULL: all are in use. */
struct nw_piece *nw_piece_unused(struct nw_piece *pieces);
struct nw_piece *nw_piece_take(struct nw_piece *pieces,
                               nw_channel_request *request);
/* Registers GPU memory once for the message; what cannot be is staged. */
NW_MUST_CHECK nw_status nw_rendezvous_keep_region(nw_channel_request *request);
/* Ends it; the other end is told once nothing of ours flies to it any more. */
void nw_rendezvous_fail(nw_channel_request *request, uint64_t theirs,
                        nw_status status);

/* proto/rendezvous_write.c */
void nw_rendezvous_push_writes(nw_channel *channel);

#endif

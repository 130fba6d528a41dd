/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of eager.c with which send.c sends eager messages. */
#ifndef NW_CHANNEL_PROTO_EAGER_H
#define NW_CHANNEL_PROTO_EAGER_H

#include "channel/proto/protocols.h"

/* Returns the size of the header that precedes the message's payload, in bytes;
 * 0 if the header travels in the 64-bit word beside the payload. */
static inline size_t nw_eager_head(const nw_channel_request *request)
{
    return request->result.protocol == NW_CHANNEL_GATHER
               ? request->channel->head[request->peer->fabric]
               : NW_WIRE_HEADER;
}

/* Sets request->payload to memory from which libfabric can send. It stays NULL
 * if a bounce buffer is needed and none is free; then call this function again
 * later. Do not call it after request->payload has been set. */
NW_MUST_CHECK nw_status nw_eager_prepare(nw_channel_request *request);
/* Returns true if libfabric's provider copies the whole message, or all its
 * parts, before the send call returns. Returns false for an empty message of
 * NW_CHANNEL_TWO: it has no parts, but its empty payload must be sent. */
bool nw_eager_is_copied(const nw_channel_request *request);
/* Passes header and payload to libfabric as one message. Returns 0 or a
 * negative libfabric error code. */
ssize_t nw_eager_post_whole(nw_channel_request *request);

#endif

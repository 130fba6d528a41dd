/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of eager.c with which send.c sends eager messages. */
#ifndef NW_CHANNEL_PROTO_EAGER_H
#define NW_CHANNEL_PROTO_EAGER_H

#include "channel/proto/protocols.h"

/* Returns the bytes of the header that the message has before its payload. */
size_t nw_eager_head(const nw_channel_request *request);
/* Sets request->payload to memory from which libfabric can send. It stays NULL
 * if a bounce buffer is needed and none is free; then call this function again
 * later. Do not call it after request->payload has been set. */
NW_MUST_CHECK nw_status nw_eager_prepare(nw_channel_request *request);
/* Returns true if the provider copies the whole message, or all of its parts,
 * before the send call returns. An empty message of NW_CHANNEL_TWO counts as
 * one message, because it has no second one. */
bool nw_eager_is_copied(const nw_channel_request *request);
/* Passes the message to libfabric as one message. Returns a libfabric code. */
ssize_t nw_eager_post_whole(nw_channel_request *request);

#endif

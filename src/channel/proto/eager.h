/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of eager.c with which send.c sends eager messages. */
#ifndef NW_CHANNEL_PROTO_EAGER_H
#define NW_CHANNEL_PROTO_EAGER_H

#include "channel/proto/protocols.h"

/* Returns the bytes that the message has before its payload. */
size_t nw_eager_head(const nw_channel_request *request);
/* Sets request->payload to an address from which libfabric can send; leaves it
 * NULL if a bounce buffer is needed and none is free. Call it again only while
 * it is NULL. */
NW_MUST_CHECK nw_status nw_eager_prepare(nw_channel_request *request);
/* Returns true if the provider copies the whole message, or all its parts,
 * before its send call returns; else false. NW_CHANNEL_TWO sends one message if
 * the payload is empty. */
bool nw_eager_is_copied(const nw_channel_request *request);
ssize_t nw_eager_post_whole(nw_channel_request *request);

#endif

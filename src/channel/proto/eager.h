/* SPDX-License-Identifier: BSD-3-Clause */
/* Eager sends (eager.c), for the queue of sends. */
#ifndef NW_CHANNEL_PROTO_EAGER_H
#define NW_CHANNEL_PROTO_EAGER_H

#include "channel/proto/protocols.h"

/* Bytes that go before the payload. */
size_t nw_eager_head(const nw_channel_request *request);
/* The payload where libfabric can read it; it stays NULL if no bounce is free.
 * Found once, however often libfabric must be asked to take it. */
NW_MUST_CHECK nw_status nw_eager_prepare(nw_channel_request *request);
/* Whether the provider copies the message, whole or in parts, before it returns
 * from the call. NW_CHANNEL_TWO sends one message if the payload is empty. */
bool nw_eager_is_copied(const nw_channel_request *request);
ssize_t nw_eager_post_whole(nw_channel_request *request);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Large messages between GPUs of one host, copied into the receiver's memory.
 */
#ifndef NW_CHANNEL_PROTO_IPC_H
#define NW_CHANNEL_PROTO_IPC_H

#include "channel/state.h"

/* Offers the receiver's memory; false if another protocol is needed. */
bool nw_ipc_offer(nw_channel_request *request);
/* For the sender: chooses whether to ask for an offer, and times the
 * message. */
void nw_ipc_weigh(nw_channel_request *request);
void nw_ipc_took(nw_channel_request *request);
void nw_ipc_asked(nw_channel *channel, struct nw_peer *peer,
                  const struct nw_wire *open);
/* Closes the opened memory of a peer; returns whether there was any. */
bool nw_ipc_forget(nw_channel *channel, const struct nw_peer *peer);
void nw_ipc_look(nw_channel *channel, uint64_t now); /* closes unused ones */
void nw_ipc_close(nw_channel *channel);

#endif

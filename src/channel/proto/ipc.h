/* SPDX-License-Identifier: BSD-3-Clause */
/* Large messages between GPUs of one host, copied into the receiver's memory.
 */
#ifndef NW_CHANNEL_PROTO_IPC_H
#define NW_CHANNEL_PROTO_IPC_H

#include "channel/state.h"

/* False where the message must go another way. */
bool nw_ipc_offer(nw_channel_request *request);
/* The sender's: whether it would, and how long it took in the end. */
void nw_ipc_weigh(nw_channel_request *request);
void nw_ipc_took(nw_channel_request *request);
void nw_ipc_asked(nw_channel *channel, struct nw_peer *peer,
                  const struct nw_wire *open);
/* Closes what was opened of a peer's memory; whether there was any. */
bool nw_ipc_forget(nw_channel *channel, const struct nw_peer *peer);
void nw_ipc_look(nw_channel *channel, uint64_t now); /* closes unused ones */
void nw_ipc_close(nw_channel *channel);

#endif

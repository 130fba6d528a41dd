/* SPDX-License-Identifier: BSD-3-Clause */
/* Large messages between GPUs of one host: the sender opens the receiver's GPU
 * memory (CUDA IPC) and copies into it. */
#ifndef NW_CHANNEL_PROTO_IPC_H
#define NW_CHANNEL_PROTO_IPC_H

#include "channel/state.h"

/* Offers the GPU memory of a receive to the sender. Returns false if the
 * request needs another protocol. */
bool nw_ipc_offer(nw_channel_request *request);
/* For the sender: sets request->opening if the sender asks the receiver to
 * offer its memory, and starts the timing of the message. */
void nw_ipc_weigh(nw_channel_request *request);
void nw_ipc_took(nw_channel_request *request);
void nw_ipc_asked(nw_channel *channel, struct nw_peer *peer,
                  const struct nw_wire *open);
/* Closes all memory of a peer that this process has opened. Returns true if it
 * closed any, else false. */
bool nw_ipc_forget(nw_channel *channel, const struct nw_peer *peer);
/* Closes opened memory that was not used for 1 s before the time `now` (ns). */
void nw_ipc_look(nw_channel *channel, uint64_t now);
void nw_ipc_close(nw_channel *channel);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Large messages into GPU memory of another process of one host: the sender
 * opens the receiver's GPU memory (CUDA IPC) and copies into it. */
#ifndef NW_CHANNEL_PROTO_IPC_H
#define NW_CHANNEL_PROTO_IPC_H

#include "channel/state.h"

/* For the receiver: sends an OPEN, which offers the GPU memory of a receive to
 * the sender. Returns false if this protocol does not apply, so that the
 * receiver must grant its memory in a rendezvous. */
bool nw_ipc_offer(nw_channel_request *request);
/* For the sender of an RTS of more than NW_WEIGH_BYTES and less than
 * NW_OPEN_BYTES from GPU memory: sets request->opening if the receiver is to be
 * asked to offer its GPU memory. Starts the timing of the message if few
 * requests are in flight. */
void nw_ipc_weigh(nw_channel_request *request);
/* For the sender: ends the timing if nw_ipc_weigh has started one. */
void nw_ipc_took(nw_channel_request *request);
/* For the sender: handles an OPEN message, by which the peer offers GPU memory.
 * Opens this memory, copies the message into it, and sends a DONE. The DONE has
 * 0 bytes if the memory cannot be opened. If the copy fails, both requests end
 * with an error. */
void nw_ipc_asked(nw_channel *channel, struct nw_peer *peer,
                  const struct nw_wire *open);
/* Closes all GPU memory of a peer that this process has opened. Returns true if
 * any was open. */
bool nw_ipc_forget(nw_channel *channel, const struct nw_peer *peer);
/* Closes all GPU memory of peers that was not used in the last second before
 * the time `now` (ns). */
void nw_ipc_look(nw_channel *channel, uint64_t now);
void nw_ipc_close(nw_channel *channel);

#endif

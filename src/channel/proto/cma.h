/* SPDX-License-Identifier: BSD-3-Clause */
/* The protocol NW_CHANNEL_CMA (proto/cma.c): the receiver reads a message
 * directly from the sender's memory. */
#ifndef NW_CHANNEL_PROTO_CMA_H
#define NW_CHANNEL_PROTO_CMA_H

#include "channel/state.h"

/* Creates this process's acknowledgement page: a page shared with the peers, in
 * which they confirm that they have read a message from this process's memory.
 * Call this function before nw_peers_meet, which sends the acknowledgement
 * page's file descriptor to the peers. */
void nw_cma_open(nw_channel *channel);
void nw_cma_close(nw_channel *channel);

/* Returns true if this send may use NW_CHANNEL_CMA: the peer may read this
 * process's memory, and a word of this process's acknowledgement page is free.
 * The message must not be empty, and in GPU memory must fit into a receive
 * slot. */
bool nw_cma_may(const nw_channel_request *request);
/* For a host message that shm would send in parts: decides whether the receiver
 * reads it instead (*reads). The faster alternative so far is used, or one that
 * is to be timed. Returns false without setting *reads for any other message,
 * if a measured table decides, or if many messages are in flight and not both
 * times are known. */
bool nw_cma_weigh(nw_channel_request *request, bool *reads);
/* Returns the selector that keeps the measured times for the message's size
 * class. Alternative 0 sends the message in parts, alternative 1 lets the
 * receiver read it. */
struct nw_selector *nw_cma_selector(const nw_channel_request *request);
/* Turns a send that offered its memory (NW_CHANNEL_CMA) into a rendezvous,
 * because the receiver has answered with a CTS or an OPEN, not a read. If
 * `always` is true, no more memory of this kind (host or GPU) is offered to
 * this peer.
 */
void nw_cma_refused(nw_channel_request *request, bool always);
/* Polls the words of this process's acknowledgement page and ends the sends
 * whose memory has been read. Returns true if it ended any. */
bool nw_cma_poll(nw_channel *channel);

/* For the receiver: reads the message announced in `slot` from the sender's
 * memory and delivers it to the receive `request`. Returns false if this
 * process cannot read that memory, or if the message goes into GPU memory and
 * does not fit into the slot; the message then needs a rendezvous. */
bool nw_cma_receive(nw_channel *channel, struct nw_slot *slot,
                    nw_channel_request *request);
/* Reads `bytes` bytes at `address` in the memory of a peer on this host into
 * `to`. Returns false in these cases:
 * - the kernel refuses the access;
 * - the peer has no memory at that address;
 * - the peer has died and another process now has its process id. */
bool nw_cma_read(const struct nw_peer *peer, uint64_t address, void *to,
                 size_t bytes);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The protocol NW_CHANNEL_FETCH (proto/cma.c): the receiver reads a message
 * directly from the sender's memory. */
#ifndef NW_CHANNEL_PROTO_CMA_H
#define NW_CHANNEL_PROTO_CMA_H

#include "channel/state.h"

/* Creates this process's board, a shared page in which peers confirm their
 * reads. Call it before nw_peers_meet, which tells peers the board's
 * descriptor. */
void nw_cma_open(nw_channel *channel);
void nw_cma_close(nw_channel *channel);

/* Returns true if this send may use NW_CHANNEL_FETCH: the peer may read the
 * memory, a word of the board is free, and a GPU message fits into a slot. */
bool nw_cma_may(const nw_channel_request *request);
/* For a host message that shm would send in parts. Sets *reads to true if reads
 * by the receiver took less time than parts so far, else to false. Returns
 * false without setting *reads if no times are known or if a measured table
 * decides. */
bool nw_cma_weigh(nw_channel_request *request, bool *reads);
/* Returns the selector of the message's size class. Alternative 0 sends the
 * message in parts, alternative 1 lets the receiver read it. */
struct nw_selector *nw_cma_selector(const nw_channel_request *request);
/* Turns a send with NW_CHANNEL_FETCH into a rendezvous, because the receiver
 * has answered with a CTS instead of a read. If `always` is true, the receiver
 * can never read this kind of memory (host or GPU). */
void nw_cma_refused(nw_channel_request *request, bool always);
/* Releases the word of our board that a send occupies. */
void nw_cma_forget(nw_channel_request *request);
/* Polls the words of our board and ends the sends whose memory has been read.
 * Returns true if it ended any. */
bool nw_cma_look(nw_channel *channel);

/* For the receiver: reads the message announced in `slot` from the sender's
 * memory and delivers it. Returns false if the message needs a rendezvous. */
bool nw_cma_take(nw_channel *channel, struct nw_slot *slot,
                 nw_channel_request *request);
/* Reads `bytes` bytes at `address` in the memory of a peer on this host into
 * `to`. Returns false if the kernel refuses, if the memory does not exist, or
 * if the peer has died and another process has its process id. */
bool nw_cma_read(const struct nw_peer *peer, uint64_t address, void *to,
                 size_t bytes);

#endif

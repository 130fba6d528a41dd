/* SPDX-License-Identifier: BSD-3-Clause */
/* The protocol NW_CHANNEL_FETCH (proto/cma.c): the receiver reads a message
 * directly from the sender's memory. */
#ifndef NW_CHANNEL_PROTO_CMA_H
#define NW_CHANNEL_PROTO_CMA_H

#include "channel/state.h"

/* Creates this process's board, a shared page in which peers confirm reads.
 * Call it before nw_peers_meet. */
void nw_cma_open(nw_channel *channel);
void nw_cma_close(nw_channel *channel);

/* Returns true if the sender may offer this send's memory for the receiver to
 * read, else false. */
bool nw_cma_may(const nw_channel_request *request);
/* For a host message that shm would send in parts: sets *reads to true if a
 * read by the receiver was faster than parts so far, else to false. Returns
 * false without setting *reads if no times are known or a measured table
 * decides. */
bool nw_cma_weigh(nw_channel_request *request, bool *reads);
/* Returns the selector of the message's size class. Alternative 0 sends the
 * message in parts, alternative 1 lets the receiver read it. */
struct nw_selector *nw_cma_selector(const nw_channel_request *request);
/* Turns an offered send into a rendezvous after the receiver has answered with
 * a CTS instead of a read. `always` means that the receiver can never read this
 * kind of memory (host or GPU). */
void nw_cma_refused(nw_channel_request *request, bool always);
/* Releases the word of our board that a send occupies. */
void nw_cma_forget(nw_channel_request *request);
/* Ends the sends whose memory a receiver has read. Returns true if it ended
 * any, else false. */
bool nw_cma_look(nw_channel *channel);

/* Reads an offered message from the sender's memory and delivers it. Returns
 * false if the message needs a rendezvous instead. */
bool nw_cma_take(nw_channel *channel, struct nw_slot *slot,
                 nw_channel_request *request);
/* Reads `bytes` bytes at `address` in the memory of a peer on this host.
 * Returns false if the kernel refuses, if the memory does not exist, or if
 * another process now has the peer's process number. */
bool nw_cma_read(const struct nw_peer *peer, uint64_t address, void *to,
                 size_t bytes);

#endif

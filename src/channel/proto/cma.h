/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that the receiver reads out of the sender's memory (proto/cma.c). */
#ifndef NW_CHANNEL_PROTO_CMA_H
#define NW_CHANNEL_PROTO_CMA_H

#include "channel/state.h"

void nw_cma_open(nw_channel *channel); /* before the peers are met */
void nw_cma_close(nw_channel *channel);

/* Whether a send may be offered for a read by the receiver. */
bool nw_cma_may(const nw_channel_request *request);
/* For a host message that shm would send in parts: *reads is whether a read was
 * faster so far. False if the times are unknown or a table decides. */
bool nw_cma_weigh(nw_channel_request *request, bool *reads);
/* Alternative 0: in parts, 1: a read. */
struct nw_selector *nw_cma_selector(const nw_channel_request *request);
/* The receiver answered with a CTS instead of a read. `always`: it can never
 * read memory of that kind (host or GPU). */
void nw_cma_refused(nw_channel_request *request, bool always);
/* Frees the board's word of a send. */
void nw_cma_forget(nw_channel_request *request);
/* Ends sends whose memory was read; returns whether there were any. */
bool nw_cma_look(nw_channel *channel);

/* Reads and delivers a message; false if it needs a rendezvous. */
bool nw_cma_take(nw_channel *channel, struct nw_slot *slot,
                 nw_channel_request *request);
/* Reads the memory of a peer of this host. False if the kernel refuses, if the
 * memory does not exist, or if another process has got the pid since. */
bool nw_cma_read(const struct nw_peer *peer, uint64_t address, void *to,
                 size_t bytes);

#endif

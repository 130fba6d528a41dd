/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonces keep processes outside the job out of the channel. Each process draws
 * a random number, its nonce, when it opens a channel. Its peers learn the
 * nonce when they meet (wireup/exchange_addresses.c), and put it into the
 * header of each message to this process, which refuses headers without its
 * nonce. Over tcp any process can connect, so each message has a whole header.
 * With another provider, a small message may have no nonce: its header is only
 * the word beside the payload. */
#ifndef NW_CHANNEL_PROTO_NONCE_H
#define NW_CHANNEL_PROTO_NONCE_H

#include "channel/state.h"

/* Draws this process's nonce. Call it before nw_peers_meet. */
void nw_nonce_draw(nw_channel *channel);

/* Puts the nonce of the peer that gets the message into its header. */
static inline void nw_nonce_stamp(struct nw_wire *wire,
                                  const struct nw_peer *peer)
{
    wire->nonce = peer->nonce;
}

/* Returns true if the header has this process's nonce. */
static inline bool nw_nonce_is_ours(const nw_channel *channel,
                                    const struct nw_wire *wire)
{
    return wire->nonce == channel->nonce;
}

/* Returns the word that accompanies a payload which follows its HEAD or PART:
 * 31 bits of the receiver's nonce in the upper half, the rank of the sender in
 * the lower half. If the provider carries only 32 bits, the receiver gets only
 * the rank. */
static inline uint64_t nw_nonce_word(uint64_t nonce, int32_t rank)
{
    return (nonce & INT32_MAX) << 32 | (uint32_t)rank;
}

/* Returns true if the word beside a payload that came through endpoint `fabric`
 * has this process's nonce and a valid rank. */
static inline bool nw_nonce_word_is_ours(const nw_channel *channel,
                                         ptrdiff_t fabric, uint64_t word)
{
    int32_t rank = (int32_t)(word & INT32_MAX);

    return rank < channel->options.count &&
           word == (nw_nonce_word(channel->nonce, rank) &
                    channel->word_mask[fabric]);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI that takes GPU memory itself, beside us: point-to-point messages of
 * those sizes where staging is the faster way are ours, and of the six calls of
 * two forms (algorithms.h) those where the channel is faster than its own call;
 * all else is its own. Each end of a message may decide for itself, since MPI
 * carries the same bytes either way.
 */
#ifndef NW_MESSAGES_PASSTHROUGH_H
#define NW_MESSAGES_PASSTHROUGH_H

#include "runtime/flavour.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stdint.h>

enum { NW_ROUNDS = 7 };

/* Half a round trip between two GPU buffers of one size, in microseconds. */
struct nw_round_trip {
    uint64_t bytes;
    double ours, theirs;
};

/* Collective over the world: measures between ranks 0 and 1, or reads what was
 * measured; false where there is nothing to compare. Uses GPU 0 where it
 * measures. */
bool nw_passthrough_start(void);
/* True once it was held: what is not ours is MPI's. */
extern bool nw_passthrough;
bool nw_passthrough_is_ours(uint64_t bytes);

/* Whether messages see this memory as a GPU's: a context that was just made is
 * seen a little later. */
bool nw_passthrough_sees(const void *memory);

/* passthrough_cache.c: what was measured, in the user's cache folder, by hosts
 * (near: ranks 0 and 1 share one) and MPI library. */
NW_MUST_CHECK nw_status
nw_passthrough_cache_read(bool near, struct nw_round_trip rounds[NW_ROUNDS]);
NW_MUST_CHECK nw_status nw_passthrough_cache_write(
    bool near, const struct nw_round_trip rounds[NW_ROUNDS]);

#endif

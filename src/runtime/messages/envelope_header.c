/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes and recognises envelopes. */
#include "runtime/messages/direct.h"

#include "base/hash.h"

#include <string.h>

static uint64_t envelope_check(const struct nw_envelope *envelope)
{
    return nw_hash(NW_HASH_START, envelope,
                   offsetof(struct nw_envelope, check));
}

void nw_envelope_write(struct nw_envelope *envelope, uint64_t bytes,
                       const struct nw_pool_slot *slot)
{
    memset(envelope, 0, sizeof *envelope);
    memcpy(envelope->nonce, nw_shared_page->nonce, NW_NONCE);
    envelope->owner = (uint32_t)nw_local_peer_mine();
    envelope->slot = slot->index;
    envelope->at = slot->at;
    envelope->bytes = bytes;
    envelope->generation = slot->generation;
    envelope->check = envelope_check(envelope);
}

bool nw_envelope_is(const struct nw_envelope *envelope)
{
    return !memcmp(envelope->nonce, nw_shared_page->nonce, NW_NONCE) &&
           envelope->check == envelope_check(envelope);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws the nonce of this process. nonce.h explains nonces. */
#include "channel/proto/nonce.h"

#include <sys/random.h>
#include <unistd.h>

void nw_nonce_draw(nw_channel *channel)
{
    if (getrandom(&channel->nonce, sizeof channel->nonce, 0) < 0)
        channel->nonce = (uintptr_t)channel ^ (uint64_t)getpid() << 40;
}

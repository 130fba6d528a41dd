/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks that the dead hold: libfabric's `shm`, up to 1.17, takes one in the
 * memory of whom it sends to, which that one takes to look what came, and waits
 * for it for ever where its holder was killed. So it is looked at before: who
 * waits here sees who dies. Our own is not: that would cost every look 30 ns.
 */
#ifndef NW_CHANNEL_GUARD_H
#define NW_CHANNEL_GUARD_H

#include "channel/state.h"

enum { NW_GUARD_LOOKS = 100 }; /* as long as one that looks holds it */

/* Of an endpoint of this host by its name and its process; NULL: it has none
 * that we know. To be closed. */
const int *nw_guard_open(const char *name, int32_t pid);
void nw_guard_close(const int *lock); /* NULL is fine */

bool nw_guard_wait(nw_channel *channel, const struct nw_peer *peer);

/* Free, or as good as: what holds it goes on. */
static inline bool nw_guard_is_free(const int *lock)
{
    return !lock || __atomic_load_n(lock, __ATOMIC_RELAXED) > 0;
}

/* The same, of one that is taken next: its line of the cache comes to be
 * written at once, not to be read first. */
static inline bool nw_guard_may_send(const struct nw_peer *peer)
{
    if (!peer->lock)
        return true;
#if defined __x86_64__
    __asm__ volatile("prefetchw %0" : : "m"(*peer->lock));
#endif
    for (int look = 0; look < NW_GUARD_LOOKS; look++)
        if (nw_guard_is_free(peer->lock))
            return true;
    return false;
}

/* Whether a peer may be sent to now; else it is lost. */
static inline bool nw_guard_pass(nw_channel *channel,
                                 const struct nw_peer *peer)
{
    return __builtin_expect(nw_guard_may_send(peer), 1) ||
           nw_guard_wait(channel, peer);
}

#endif

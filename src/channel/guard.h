/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks that the dead hold: libfabric's `shm`, up to 1.17, takes one in the
 * memory of whom it sends to, which that one takes to look what came, and waits
 * for it for ever where its holder was killed. So libfabric takes ours instead,
 * in which it stands who holds it: who waits then takes it from the dead. */
#ifndef NW_CHANNEL_GUARD_H
#define NW_CHANNEL_GUARD_H

#include "channel/state.h"

/* Once libfabric is loaded, and again in each process. */
void nw_guard_load(void);

/* Whose peers are asked after; until it leaves. */
void nw_guard_join(nw_channel *channel);
void nw_guard_leave(nw_channel *channel);

/* As pthread_spin_lock, of a lock that pthread_spin_unlock frees. */
int nw_guard_take(pthread_spinlock_t *lock);

#endif

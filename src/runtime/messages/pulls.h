/* SPDX-License-Identifier: BSD-3-Clause */
/* Small messages read out of a GPU by an adapter. Of one thread at a time, but
 * for nw_pulls_may. */
#ifndef NW_MESSAGES_PULLS_H
#define NW_MESSAGES_PULLS_H

#include "runtime/messages/ways.h"

/* `copy`: the way that is asked for, or NULL. */
void nw_pulls_start(const char *copy);
/* Whether it is worth a thought. */
bool nw_pulls_may(const struct nw_haul *haul);
/* Whether the adapter is to do it, of an allocation that the driver keeps in
 * step; where *timed, the time it took, by whichever way, is to be told. */
bool nw_pulls_pick(const struct nw_haul *haul, bool *timed);
void nw_pulls_took(const struct nw_haul *haul, bool pulled, uint64_t ns);
/* False: it cannot, of this allocation. */
bool nw_pulls_move(const struct nw_haul *haul);
void nw_pulls_close(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of two ways takes less time, found on the work itself: both are tried
 * a few times, then the better one is kept to, and both are looked at again
 * now and then. */
#ifndef NW_BASE_SELECTOR_H
#define NW_BASE_SELECTOR_H

#include <stdbool.h>
#include <stdint.h>

struct nw_selector {
    uint32_t least_ns[2]; /* 0: not tried; of the last few where it got worse */
    uint32_t recent_ns[2]; /* the least of so many: */
    uint32_t recent[2];
    uint32_t turns;
};

/* Chooses the variant of the next turn, 0 or 1. If *timed, the caller reports
 * its time to nw_selector_took. */
int nw_selector_pick(struct nw_selector *selector, bool *timed);
void nw_selector_took(struct nw_selector *selector, int way, uint64_t ns);
/* The way that is better so far; 1 must be so by a twentieth. */
int nw_selector_best(const struct nw_selector *selector);
/* Whether way 1 is better by such a part. */
bool nw_selector_leads(const struct nw_selector *selector, uint32_t part);
/* Whether way 1 took more than twice as long. */
bool nw_selector_is_lost(const struct nw_selector *selector);
/* By classes of sizes: what was that far behind for less is not tried for
 * more. */
bool nw_selector_is_hopeless(const struct nw_selector *selector, int class);

/* The class of the power of two that holds `bytes`; the last class has no
 * limit. */
int nw_selector_class(uint64_t bytes, int classes);

#endif

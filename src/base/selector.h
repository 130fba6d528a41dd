/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the faster of two variants of an operation while the program runs. It
 * times both variants at first, then uses the faster one, and times both again
 * at intervals. A turn is one execution of the operation. */
#ifndef NW_BASE_SELECTOR_H
#define NW_BASE_SELECTOR_H

#include <stdbool.h>
#include <stdint.h>

/* Times of the variants 0 and 1. Initialise with {0}. */
struct nw_selector {
    uint32_t least_ns[2];  /* shortest time of each variant, replaced after
                              every four timings by the shortest of these four;
                              0: not timed */
    uint32_t recent_ns[2]; /* shortest time of each variant since least_ns was
                              last replaced; `recent` counts these timings */
    uint32_t recent[2];
    /* turns so far */
    uint32_t turns;
};

/* nw_selector_pick returns the variant for the next turn, 0 or 1. If it sets
 * *timed, the caller reports the time of this turn to nw_selector_took;
 * `choice` is the variant. */
int nw_selector_pick(struct nw_selector *selector, bool *timed);
void nw_selector_took(struct nw_selector *selector, int choice, uint64_t ns);
/* Returns the faster variant so far; 1 only if it is more than 5 % faster. */
int nw_selector_best(const struct nw_selector *selector);
/* Returns true if variant 1 is faster by more than 1/part of the time of
 * variant 0. */
bool nw_selector_leads(const struct nw_selector *selector, uint32_t part);
/* For an array of selectors by size class: returns true if variant 1 is not
 * worth a try in this class. That is so if the class has had no turn, and
 * variant 1 took more than twice as long in a smaller class of 8 or more turns.
 */
bool nw_selector_is_hopeless(const struct nw_selector *selector, int class);

/* Returns the size class of `bytes`: class i has up to 2^i bytes, and the last
 * class has no limit. */
int nw_selector_class(uint64_t bytes, int classes);

#endif

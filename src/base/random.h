/* SPDX-License-Identifier: BSD-3-Clause */
/* A random number generator that gives the same numbers on every machine. */
#ifndef NW_BASE_RANDOM_H
#define NW_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct nw_random {
    uint64_t state[4];
};

/* Any seed is good, also 0, since splitmix64 expands it to the state. */
void nw_random_init(struct nw_random *random, uint64_t seed);
/* Returns 64 uniform bits (xoshiro256**, Blackman and Vigna 2018). Inline,
 * since searches call it millions of times. */
static inline uint64_t nw_random_next(struct nw_random *random)
{
    uint64_t *s = random->state;
    uint64_t product = s[1] * 5, t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = s[3] << 45 | s[3] >> 19;
    return (product << 7 | product >> 57) * 9;
}
/* Returns a uniform number in [0, bound), unbiased; bound > 0. */
uint64_t nw_random_below(struct nw_random *random, uint64_t bound);
/* Returns a uniform number in [0, 1). */
double nw_random_unit(struct nw_random *random);
/* Permutes values in place, each permutation equally likely. */
void nw_random_shuffle(struct nw_random *random, int32_t *values, size_t n);

#endif

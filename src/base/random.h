/* SPDX-License-Identifier: BSD-3-Clause */
/* Our own generator: the same seed gives the same numbers everywhere. */
#ifndef NW_BASE_RANDOM_H
#define NW_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct nw_random {
    uint64_t state[4];
};

/* Any seed is good, 0 too (spread by splitmix64). */
void nw_random_init(struct nw_random *random, uint64_t seed);
/* 64 uniform bits (xoshiro256**, Blackman and Vigna 2018); inline, since
 * searches throw them by the million. */
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
/* Uniform in [0, bound), unbiased; bound > 0. */
uint64_t nw_random_below(struct nw_random *random, uint64_t bound);
/* Uniform in [0, 1). */
double nw_random_unit(struct nw_random *random);
/* Permutes values in place, each permutation equally likely. */
void nw_random_shuffle(struct nw_random *random, int32_t *values, size_t n);

#endif

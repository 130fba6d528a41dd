/* SPDX-License-Identifier: BSD-3-Clause */
/* The generator xoshiro256**, whose state is filled by splitmix64. */
#include "base/random.h"

#include <assert.h>

static uint64_t random_splitmix(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void nw_random_init(struct nw_random *random, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        random->state[i] = random_splitmix(&seed);
}

uint64_t nw_random_below(struct nw_random *random, uint64_t bound)
{
    uint64_t x = nw_random_next(random);

    assert(bound > 0);
    /* A number below 2^64 mod bound is rejected, because the remainders of such
     * numbers would be too frequent. That limit is less than `bound`, so a
     * larger number is accepted without a division for the limit. */
    if (x < bound) {
        uint64_t reject = -bound % bound;

        while (x < reject)
            x = nw_random_next(random);
    }
    return x % bound;
}

double nw_random_unit(struct nw_random *random)
{
    return (double)(nw_random_next(random) >> 11) * 0x1p-53;
}

void nw_random_shuffle(struct nw_random *random, int32_t *values, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)nw_random_below(random, i);
        int32_t swap = values[i - 1];

        values[i - 1] = values[j];
        values[j] = swap;
    }
}

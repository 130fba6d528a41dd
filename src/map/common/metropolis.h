/* SPDX-License-Identifier: BSD-3-Clause */
/* What annealing throws its dice with: -log of evenly spread numbers, rounded
 * so that every machine's logarithm gives the same. */
#ifndef NW_MAP_COMMON_METROPOLIS_H
#define NW_MAP_COMMON_METROPOLIS_H

#include <math.h>
#include <stdint.h>

#define NW_CHANCES 4096

static inline void nw_chances_fill(double chance[NW_CHANCES])
{
    for (int i = 0; i < NW_CHANCES; i++)
        chance[i] = floor(-log((i + 0.5) / NW_CHANCES) * 1048576.0) / 1048576.0;
}

/* Below count, out of the lower 32 bits. */
static inline int32_t nw_chance_pick(uint64_t bits, int32_t count)
{
    return (int32_t)(((bits & 0xffffffff) * (uint64_t)(uint32_t)count) >> 32);
}

#endif

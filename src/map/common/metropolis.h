/* SPDX-License-Identifier: BSD-3-Clause */
/* The Metropolis criterion of simulated annealing by a table of -ln u for
 * evenly spaced u in (0, 1). The values are rounded so that every C library
 * gives the same table. */
#ifndef NW_MAP_COMMON_METROPOLIS_H
#define NW_MAP_COMMON_METROPOLIS_H

#include <stdint.h>

#define NW_METROPOLIS_SIZE 4096
#define NW_METROPOLIS_WIDTH 64 /* most thresholds that one trial reads */

/* Returns the table, which has NW_METROPOLIS_SIZE entries and is never freed. A
 * change of cost is accepted at temperature T if it is at most T times a random
 * entry of the table. For a change of at least 0, the probability of that is
 * about exp(-change / T). */
const double *nw_metropolis_table(void);

/* Returns the entries of the table in random order, which is always the same.
 * The first NW_METROPOLIS_WIDTH entries follow again at the end, so that a
 * trial may read that many from any of the NW_METROPOLIS_SIZE positions on. */
const float *nw_metropolis_thresholds(void);

/* Returns a random index from 0 to count - 1: the lower 32 bits of `bits`,
 * which must be random, scaled to this range. */
static inline int32_t nw_random_index(uint64_t bits, int32_t count)
{
    return (int32_t)(((bits & 0xffffffff) * (uint64_t)(uint32_t)count) >> 32);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The opponents in each round of a round-robin tournament, by the circle
 * method, and the division of a round into waves. */
#ifndef NW_PROBE_SCHEDULE_H
#define NW_PROBE_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

/* Returns the number of rounds in which `players` players all meet once:
 * players - 1 if `players` is even, else `players`; 0 for fewer than two
 * players. */
int32_t nw_probe_rounds(int32_t players);
/* Returns the opponent of `player` in a round; -1 if `player` has none. */
int32_t nw_probe_opponent(int32_t players, int32_t round, int32_t player);

/* The arguments of nw_probe_share_out. It divides the disjoint pairs of a round
 * into waves, so that no host occurs in two pairs of a wave and each NIC has
 * only one measurement at a time. The hosts of pair i are host[2i] and host[2i
 * + 1]; its wave is stored in wave[i]. Returns the number of waves. `busy` is
 * working memory of pairs * host_count bytes. */
struct nw_probe_waves {
    const int32_t *host;
    size_t pairs;
    int32_t host_count;
    unsigned char *busy;
};
int32_t nw_probe_share_out(const struct nw_probe_waves *waves, int32_t *wave);

#endif

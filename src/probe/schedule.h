/* SPDX-License-Identifier: BSD-3-Clause */
/* Opponents of each round of a tournament, by the circle method. */
#ifndef NW_PROBE_SCHEDULE_H
#define NW_PROBE_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

/* n players meet each other once in this many rounds: n - 1, n where odd. */
int32_t nw_probe_rounds(int32_t players);
/* The opponent of `player` in a round; -1 where it rests. */
int32_t nw_probe_opponent(int32_t players, int32_t round, int32_t player);

/* Divides the disjoint pairs of a round into waves. No host is in two pairs of
 * a wave, so that no NIC carries two measurements. The hosts of pair i are
 * host[2i] and host[2i + 1]; wave[i] is filled. Returns the number of waves.
 * `busy` has `pairs` times `host_count` bytes. */
struct nw_probe_waves {
    const int32_t *host;
    size_t pairs;
    int32_t host_count;
    unsigned char *busy;
};
int32_t nw_probe_share_out(const struct nw_probe_waves *waves, int32_t *wave);

#endif

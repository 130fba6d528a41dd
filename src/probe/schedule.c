/* SPDX-License-Identifier: BSD-3-Clause */
/* The circle method: all players but the last move on by one place in each
 * round. If the number of players is odd, an absent player is added, whose
 * opponent pauses. */
#include "probe/schedule.h"

#include <string.h>

int32_t nw_probe_rounds(int32_t players)
{
    return players < 2 ? 0 : players % 2 ? players : players - 1;
}

int32_t nw_probe_opponent(int32_t players, int32_t round, int32_t player)
{
    int32_t slots = players % 2 ? players + 1 : players, turn = slots - 1;
    int32_t other;

    if (player == slots - 1)
        other = round % turn;
    else if (player == round % turn)
        other = slots - 1;
    else
        other =
            (int32_t)((2 * (int64_t)round - player + 2 * (int64_t)turn) % turn);
    return other < players ? other : -1;
}

int32_t nw_probe_share_out(const struct nw_probe_waves *waves, int32_t *wave)
{
    int32_t count = 0;

    memset(waves->busy, 0, waves->pairs * (size_t)waves->host_count);
    for (size_t i = 0; i < waves->pairs; i++) {
        const int32_t *host = waves->host + 2 * i;
        int32_t w = 0;
        unsigned char *busy = waves->busy;

        while (busy[host[0]] || busy[host[1]]) {
            busy += waves->host_count;
            w++;
        }
        busy[host[0]] = busy[host[1]] = 1;
        wave[i] = w;
        count = w + 1 > count ? w + 1 : count;
    }
    return count;
}

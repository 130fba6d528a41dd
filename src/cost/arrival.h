/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes when a message arrives, in an exchange in which the bytes that each
 * link carries are known. This is used by nw_exchange_estimate (by default, one
 * message of mean size for each edge) and by the mapping engine's
 * nw_exchange_makespan (all bytes of the pattern). */
#ifndef NW_COST_ARRIVAL_H
#define NW_COST_ARRIVAL_H

#include <stddef.h>
#include <stdint.h>

/* Returns when a message arrives, in s: the latency of its route plus the time
 * of the slowest link of the route. hops[i] is 2 * link + direction. In
 * link_seconds[hops[i]] s, this link sends all bytes that cross it in this
 * direction, those of all messages. */
static inline double nw_arrival(double latency, const uint32_t *hops,
                                size_t count, const double *link_seconds)
{
    double most = 0;

    for (size_t i = 0; i < count; i++)
        if (link_seconds[hops[i]] > most)
            most = link_seconds[hops[i]];
    return latency + most;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Small messages choose here between ways whose costs cross; the defaults are
 * the reference's figures, and a measured table replaces them. */
#include "channel/choose.h"

#include <stddef.h>

void nw_costs_default(struct nw_costs *out)
{
#define NW_COST_FILL(id, name, latency, bytes_per_s)                           \
    out->latency_s[NW_COST_##id] = latency;                                    \
    out->rate[NW_COST_##id] = bytes_per_s;
    NW_COST_LIST(NW_COST_FILL)
#undef NW_COST_FILL
}

double nw_cost(const struct nw_costs *costs, enum nw_cost_kind kind,
               uint64_t bytes)
{
    return costs->latency_s[kind] + (double)bytes / costs->rate[kind];
}

enum nw_channel_copy nw_choose_copy(const struct nw_costs *costs,
                                    const struct nw_ways *ways, uint64_t bytes)
{
    enum nw_channel_copy best = NW_CHANNEL_NAIVE;
    double least = nw_cost(costs, NW_COST_COPY, bytes);

    if (ways->adapter && nw_cost(costs, NW_COST_LOOP, bytes) < least) {
        least = nw_cost(costs, NW_COST_LOOP, bytes);
        best = NW_CHANNEL_LOOPBACK;
    }
    if (ways->mapping && nw_cost(costs, NW_COST_STORE, bytes) < least)
        best = NW_CHANNEL_FASTCOPY;
    return best;
}

static double copy_cost(const struct nw_costs *costs,
                        const struct nw_ways *ways, uint64_t bytes)
{
    static const enum nw_cost_kind kinds[] = {
        [NW_CHANNEL_NAIVE] = NW_COST_COPY,
        [NW_CHANNEL_LOOPBACK] = NW_COST_LOOP,
        [NW_CHANNEL_FASTCOPY] = NW_COST_STORE,
    };

    return nw_cost(costs, kinds[nw_choose_copy(costs, ways, bytes)], bytes);
}

/* The other end is taken to be of the same kind as ours, and as able. */
enum nw_channel_protocol nw_choose_protocol(const struct nw_costs *costs,
                                            const struct nw_ways *ways,
                                            uint64_t bytes)
{
    double hop = costs->latency_s[NW_COST_HOP];
    double copy = nw_cost(costs, NW_COST_COPY, bytes);
    double read = ways->adapter ? nw_cost(costs, NW_COST_READ, bytes) : copy;
    double write = ways->adapter ? nw_cost(costs, NW_COST_WRITE, bytes) : copy;
    double take = read < copy ? read : copy;

    if (!ways->eager)
        return NW_CHANNEL_RENDEZVOUS;
    if (!ways->gpu)
        return NW_CHANNEL_GATHER;
    if (take + copy_cost(costs, ways, bytes) > 3 * hop + read + write)
        return NW_CHANNEL_RENDEZVOUS;
    return read <= copy && ways->adapter ? NW_CHANNEL_GATHER : NW_CHANNEL_PACK;
}

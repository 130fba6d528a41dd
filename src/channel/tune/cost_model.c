/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost model of small messages: predicts the time of each protocol and copy
 * method, since none is always fastest. Measured tables (nodewise channel tune)
 * replace the model. */
#include "channel/tune/cost_model.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

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

bool nw_cost_load_pays(const struct nw_costs *costs, uint64_t bytes)
{
    return nw_cost(costs, NW_COST_LOAD, bytes) <
           nw_cost(costs, NW_COST_COPY, bytes);
}

void nw_costs_of_provider(struct nw_costs *costs, const char *provider)
{
    static const struct {
        const char *name;
        double hop_s;
    } known[] = {{"tcp", 4.4e-6},
                 {"sockets", 15e-6},
                 {"verbs", 1.3e-6},
                 {"cxi", 1.8e-6},
                 {"efa", 15e-6}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strncmp(provider, known[i].name, strlen(known[i].name)))
            costs->latency_s[NW_COST_HOP] = known[i].hop_s;
}

/* A copy by the resident kernel takes three steps one after the other across
 * the bus: the order, the payload and the answer. The figures were measured on
 * an H100 for 8 B to 32 KiB
 * (bench/results/gpu-h100-80gb-second-2026-11-26.txt). */
void nw_costs_of_mapping(struct nw_costs *costs, const char *mapping)
{
    if (!strcmp(mapping, "resident")) {
        costs->latency_s[NW_COST_STORE] = costs->latency_s[NW_COST_LOAD] = 7e-6;
        costs->rate[NW_COST_STORE] = costs->rate[NW_COST_LOAD] = 0.9e9;
    }
}

/* Returns the seconds that the bytes take from the sender's memory to the
 * network. */
static double cost_out(const struct nw_ends *ends,
                       enum nw_channel_protocol protocol, uint64_t bytes)
{
    const struct nw_costs *costs = &ends->costs;
    bool pack = protocol == NW_CHANNEL_PACK;
    bool copies = protocol == NW_CHANNEL_CMA ||
                  (protocol != NW_CHANNEL_RENDEZVOUS && (pack || ends->packs));

    if (!ends->gpu[0])
        return pack ? (double)bytes / costs->rate[NW_COST_HOP] : 0;
    if (!copies && ends->adapter)
        return nw_cost(costs, NW_COST_READ, bytes);
    if (protocol != NW_CHANNEL_RENDEZVOUS && ends->mapping &&
        nw_cost_load_pays(costs, bytes))
        return nw_cost(costs, NW_COST_LOAD, bytes);
    return nw_cost(costs, NW_COST_COPY, bytes);
}

/* Returns the seconds that the bytes take from the slot into the receiver's
 * memory; INFINITY if this kind of copy is impossible. If many messages are in
 * flight, the adapter also writes arriving
 * messages to the slots. A loopback copy, which reads the slot and writes to
 * the GPU through the adapter, then uses the adapter's link for the third time.
 */
static double cost_in(const struct nw_ends *ends, enum nw_channel_copy copy,
                      uint64_t bytes)
{
    const struct nw_costs *costs = &ends->costs;
    double seconds;

    if (!ends->gpu[1] != !copy)
        return INFINITY;
    if (!copy)
        return (double)bytes / costs->rate[NW_COST_HOP];
    if (copy == NW_CHANNEL_NAIVE)
        return nw_cost(costs, NW_COST_COPY, bytes);
    if (copy == NW_CHANNEL_FASTCOPY)
        return ends->mapping ? nw_cost(costs, NW_COST_STORE, bytes) : INFINITY;
    seconds = nw_cost(costs, NW_COST_LOOP, bytes);
    if (ends->regime == NW_REGIME_FLOOD)
        seconds += (double)bytes / costs->rate[NW_COST_WRITE];
    return ends->adapter ? seconds : INFINITY;
}

/* Returns the seconds of a message: the sum of the hop, the sender's part and
 * the receiver's part. If many messages are in flight, sender and receiver work
 * in parallel. Then the first message takes this sum, and each later one takes
 * the hop plus the longer part; the result is the mean. */
static double in_all(const struct nw_ends *ends, double hop, double sender,
                     double receiver)
{
    double one = hop + sender + receiver;

    if (ends->regime != NW_REGIME_FLOOD)
        return one;
    return (one + (NW_REGIME_MANY - 1) * (hop + fmax(sender, receiver))) /
           NW_REGIME_MANY;
}

/* Returns the seconds of a rendezvous: three messages and a write. Between
 * ranks of one host, the kernel does the write, or the sender does one copy
 * into GPU memory that it has opened. */
static double cost_of_rendezvous(const struct nw_ends *ends, uint64_t bytes)
{
    const struct nw_costs *costs = &ends->costs;
    double hop = nw_cost(costs, NW_COST_HOP, bytes);
    double through = cost_out(ends, NW_CHANNEL_RENDEZVOUS, bytes);

    if (ends->gpu[1])
        through +=
            nw_cost(costs, ends->adapter ? NW_COST_WRITE : NW_COST_COPY, bytes);
    if (ends->whole && bytes > ends->whole)
        through += costs->latency_s[NW_COST_CMA];
    if (ends->opens && ends->gpu[0] && ends->gpu[1] && bytes > NW_WEIGH_BYTES)
        through = fmin(through, nw_cost(costs, NW_COST_COPY, bytes));
    return in_all(ends, hop, 2 * costs->latency_s[NW_COST_HOP] + through, 0);
}

/* Returns the seconds of CMA: the header, and a read by the kernel directly
 * into host memory. INFINITY if CMA is impossible. */
static double cost_of_cma(const struct nw_ends *ends, enum nw_channel_copy copy,
                          uint64_t bytes)
{
    const struct nw_costs *costs = &ends->costs;
    double read = nw_cost(costs, NW_COST_CMA, bytes);

    if (!ends->reads)
        return INFINITY;
    if (ends->gpu[1] || copy)
        read += cost_in(ends, copy, bytes);
    return in_all(ends, costs->latency_s[NW_COST_HOP],
                  cost_out(ends, NW_CHANNEL_CMA, bytes), read);
}

/* Returns the seconds of an eager message. If it is sent in parts, each part is
 * copied into the provider's memory and out of it. */
static double cost_of_eager(const struct nw_ends *ends,
                            struct nw_protocol_copy method, uint64_t bytes)
{
    const struct nw_costs *costs = &ends->costs;
    double hop = nw_cost(costs, NW_COST_HOP, bytes);

    if (method.protocol == NW_CHANNEL_TWO)
        hop += costs->latency_s[NW_COST_HOP] / 2;
    if (ends->whole && bytes > ends->whole)
        hop += (double)bytes / costs->rate[NW_COST_HOP];
    return in_all(ends, hop, cost_out(ends, method.protocol, bytes),
                  cost_in(ends, method.copy, bytes));
}

double nw_cost_of_protocol(const struct nw_ends *ends,
                           struct nw_protocol_copy method, uint64_t bytes)
{
    if (method.protocol == NW_CHANNEL_RENDEZVOUS)
        return cost_of_rendezvous(ends, bytes);
    if (method.protocol == NW_CHANNEL_CMA)
        return cost_of_cma(ends, method.copy, bytes);
    return cost_of_eager(ends, method, bytes);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Which way is cheapest, by a linear model of each part of it: latency and
 * bytes/s. thresholds.h makes a table of it. */
#ifndef NW_CHANNEL_TUNE_COST_MODEL_H
#define NW_CHANNEL_TUNE_COST_MODEL_H

#include <nodewise/channel.h>

/* Name, default seconds, default bytes/s. "copy" is the driver's copy (mean of
 * both directions, 8 B to 32 KiB), "store" are stores through a Vulkan mapping,
 * both measured on an H100 (bench/results/gpu-h100-80gb-2026-11-26.txt). The
 * adapter's are published figures, never measured by us. */
#define NW_COST_LIST(X)                                                        \
    X(HOP, "hop", 0.7e-6, 10e9)                                                \
    X(FETCH, "fetch", 1.2e-6, 20e9)                                            \
    X(COPY, "copy", 7.7e-6, 6.2e9)                                             \
    X(STORE, "store", 0.4e-6, 16e9)                                            \
    X(LOOP, "loopback", 1.2e-6, 2e9)                                           \
    X(READ, "adapter-read", 0.6e-6, 0.8e9)                                     \
    X(WRITE, "adapter-write", 0.6e-6, 6e9)

enum { NW_WEIGH_BYTES = 8192 }; /* beyond, a GPU's memory may be opened */

enum nw_cost_kind {
#define NW_COST_ENUM(id, name, latency, rate) NW_COST_##id,
    NW_COST_LIST(NW_COST_ENUM)
#undef NW_COST_ENUM
        NW_COSTS
};

struct nw_costs {
    double latency_s[NW_COSTS], rate[NW_COSTS];
};

void nw_costs_default(struct nw_costs *out);
/* A hop by this provider, as the reference has measured it. */
void nw_costs_of_provider(struct nw_costs *costs, const char *provider);
/* A store by this back end (nw_mapping), in the same way. */
void nw_costs_of_mapping(struct nw_costs *costs, const char *mapping);
double nw_cost(const struct nw_costs *costs, enum nw_cost_kind kind,
               uint64_t bytes);

/* What there is to choose from. */
struct nw_ways {
    bool gpu;     /* the memory is a GPU's */
    bool adapter; /* the adapter reaches it */
    bool mapping; /* the CPU does */
    bool eager;   /* it fits a slot */
};
enum nw_channel_protocol nw_choose_protocol(const struct nw_costs *costs,
                                            const struct nw_ways *ways,
                                            uint64_t bytes);
enum nw_channel_copy nw_choose_copy(const struct nw_costs *costs,
                                    const struct nw_ways *ways, uint64_t bytes);

/* One message at a time, or so many that what it costs the adapter counts. */
enum nw_regime { NW_REGIME_LATENCY, NW_REGIME_FLOOD, NW_REGIMES };
/* By how many requests are under way: many from 8 on, few again below 3. */
enum { NW_REGIME_MANY = 8 };
static inline enum nw_regime nw_regime_next(enum nw_regime now,
                                            uint32_t requests)
{
    if (requests >= NW_REGIME_MANY)
        return NW_REGIME_FLOOD;
    return requests < 3 ? NW_REGIME_LATENCY : now;
}

/* A message from end to end; `copy` is AUTO where the receiver's memory is the
 * host's and, unread, where the protocol is rendezvous. */
struct nw_way_of {
    enum nw_channel_protocol protocol;
    enum nw_channel_copy copy;
};
struct nw_ends {
    struct nw_costs costs;
    bool gpu[2]; /* the sender's memory, the receiver's */
    bool adapter, mapping;
    bool packs; /* what is gathered from GPU memory */
    bool fetches,
        opens;    /* inside a host: reads others' memory, opens a GPU's */
    size_t whole; /* beyond, eager ones go in parts; 0: never */
    enum nw_regime regime;
};
/* Seconds; INFINITY for what cannot be. */
double nw_cost_of_way(const struct nw_ends *ends, struct nw_way_of way,
                      uint64_t bytes);

#endif

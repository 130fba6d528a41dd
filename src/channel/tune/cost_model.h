/* SPDX-License-Identifier: BSD-3-Clause */
/* Predicts the fastest protocol with a linear model of its steps: latency and
 * bytes/s. thresholds.h makes tables from the model. */
#ifndef NW_CHANNEL_TUNE_COST_MODEL_H
#define NW_CHANNEL_TUNE_COST_MODEL_H

#include <nodewise/channel.h>

/* Name, default seconds, default bytes/s. "copy" is the driver's copy (mean of
 * both directions, 8 B to 32 KiB), "store" and "load" go through a Vulkan
 * mapping, all measured on an H100 (bench/results/gpu-h100-80gb-2026-11-26.txt,
 * loads in gpu-h100-80gb-2026-11-27.txt). The adapter's are published figures,
 * never measured by us. */
#define NW_COST_LIST(X)                                                        \
    X(HOP, "hop", 0.7e-6, 10e9)                                                \
    X(FETCH, "fetch", 1.2e-6, 20e9)                                            \
    X(COPY, "copy", 7.7e-6, 6.2e9)                                             \
    X(STORE, "store", 0.4e-6, 16e9)                                            \
    X(LOAD, "load", 2.4e-6, 0.6e9)                                             \
    X(LOOP, "loopback", 1.2e-6, 2e9)                                           \
    X(READ, "adapter-read", 0.6e-6, 0.8e9)                                     \
    X(WRITE, "adapter-write", 0.6e-6, 6e9)

enum { NW_WEIGH_BYTES = 8192 }; /* above, GPU memory may be opened */

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
/* Sets the cost of a hop by this provider, as the reference has measured it. */
void nw_costs_of_provider(struct nw_costs *costs, const char *provider);
/* Sets the cost of stores and loads by this GPU mapping (nw_gpu_mapping), as
 * measured. */
void nw_costs_of_mapping(struct nw_costs *costs, const char *mapping);
double nw_cost(const struct nw_costs *costs, enum nw_cost_kind kind,
               uint64_t bytes);
/* Whether a load of GPU memory is faster than the driver's copy. */
bool nw_cost_load_pays(const struct nw_costs *costs, uint64_t bytes);

/* Properties of a message that decide the choice. */
struct nw_ways {
    bool gpu;     /* the message is in GPU memory */
    bool adapter; /* the adapter reaches this memory */
    bool mapping; /* the CPU reaches this memory */
    bool eager;   /* the message fits into a slot */
};
enum nw_channel_protocol nw_choose_protocol(const struct nw_costs *costs,
                                            const struct nw_ways *ways,
                                            uint64_t bytes);
enum nw_channel_copy nw_choose_copy(const struct nw_costs *costs,
                                    const struct nw_ways *ways, uint64_t bytes);

/* Latency: few requests in flight. Flood: so many that the load of the adapter
 * counts. */
enum nw_regime { NW_REGIME_LATENCY, NW_REGIME_FLOOD, NW_REGIMES };
/* The regime is flood from 8 requests in flight on, and latency again below
 * 3. */
enum { NW_REGIME_MANY = 8 };
static inline enum nw_regime nw_regime_next(enum nw_regime now,
                                            uint32_t requests)
{
    if (requests >= NW_REGIME_MANY)
        return NW_REGIME_FLOOD;
    return requests < 3 ? NW_REGIME_LATENCY : now;
}

/* The path of a message. `copy` is AUTO if the receiver's memory is host
 * memory; a rendezvous ignores `copy`. */
struct nw_way_of {
    enum nw_channel_protocol protocol;
    enum nw_channel_copy copy;
};
struct nw_ends {
    struct nw_costs costs;
    bool gpu[2]; /* the sender's memory, the receiver's */
    bool adapter, mapping;
    bool packs; /* GPU memory is copied even if gathered */
    bool fetches,
        opens;    /* inside a host: reads peers' memory, opens GPU memory */
    size_t whole; /* larger eager messages go in parts; 0: never */
    enum nw_regime regime;
};
/* Predicted seconds; INFINITY if impossible. */
double nw_cost_of_way(const struct nw_ends *ends, struct nw_way_of way,
                      uint64_t bytes);

#endif

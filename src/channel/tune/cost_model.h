/* SPDX-License-Identifier: BSD-3-Clause */
/* Predicts the time of each protocol. A message consists of steps; each step
 * takes a latency plus its bytes divided by a rate. thresholds.h makes tables
 * from these times. */
#ifndef NW_CHANNEL_TUNE_COST_MODEL_H
#define NW_CHANNEL_TUNE_COST_MODEL_H

#include <nodewise/channel.h>

/* The steps of a message, each with its name, default latency in seconds and
 * default rate in bytes/s. "hop" is a message to the peer, "fetch" a read from
 * the memory of another process. "copy" is the driver's copy (mean of both
 * directions, 8 B to 32 KiB); "store" and "load" are the CPU's copies through a
 * Vulkan mapping. These three were measured on an H100
 * (bench/results/gpu-h100-80gb-2026-11-26.txt, loads in
 * gpu-h100-80gb-2026-11-27.txt). "loopback", "adapter-read" and "adapter-write"
 * are published figures of adapters, which we have not measured. */
#define NW_COST_LIST(X)                                                        \
    X(HOP, "hop", 0.7e-6, 10e9)                                                \
    X(CMA, "fetch", 1.2e-6, 20e9)                                              \
    X(COPY, "copy", 7.7e-6, 6.2e9)                                             \
    X(STORE, "store", 0.4e-6, 16e9)                                            \
    X(LOAD, "load", 2.4e-6, 0.6e9)                                             \
    X(LOOP, "loopback", 1.2e-6, 2e9)                                           \
    X(READ, "adapter-read", 0.6e-6, 0.8e9)                                     \
    X(WRITE, "adapter-write", 0.6e-6, 6e9)

/* Messages of more bytes may use CUDA IPC: the sender opens the receiver's GPU
 * memory. */
enum { NW_WEIGH_BYTES = 8192 };

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
/* Sets the latency of a hop (one message to the peer) to the value of this
 * provider, if it is in the list of known providers. */
void nw_costs_of_provider(struct nw_costs *costs, const char *provider);
/* Sets the costs of stores and loads to those measured with the resident
 * kernel, if `mapping`, the name of a struct nw_gpu_mapping, is that of the
 * resident kernel; else does nothing. */
void nw_costs_of_mapping(struct nw_costs *costs, const char *mapping);
/* Returns the seconds of one step with `bytes` bytes. */
double nw_cost(const struct nw_costs *costs, enum nw_cost_kind kind,
               uint64_t bytes);
/* Returns true if a load of `bytes` bytes from GPU memory by the CPU is faster
 * than the driver's copy, else false. */
bool nw_cost_load_pays(const struct nw_costs *costs, uint64_t bytes);

/* The regime depends on how many requests are in flight. NW_REGIME_LATENCY:
 * there are few requests, so each message takes its full latency.
 * NW_REGIME_FLOOD: many requests are in flight, and the adapter limits the rate
 * of messages. */
enum nw_regime { NW_REGIME_LATENCY, NW_REGIME_FLOOD, NW_REGIMES };
/* The regime becomes flood at 8 or more requests in flight, and becomes latency
 * again below 3. */
enum { NW_REGIME_MANY = 8 };
static inline enum nw_regime nw_regime_next(enum nw_regime now,
                                            uint32_t requests)
{
    if (requests >= NW_REGIME_MANY)
        return NW_REGIME_FLOOD;
    return requests < 3 ? NW_REGIME_LATENCY : now;
}

/* A protocol and a copy method for a message. `copy` is the method that copies
 * the message into the receiver's GPU memory; AUTO for host memory. A
 * rendezvous ignores `copy`. */
struct nw_protocol_copy {
    enum nw_channel_protocol protocol;
    enum nw_channel_copy copy;
};
struct nw_ends {
    struct nw_costs costs;
    bool gpu[2]; /* true: GPU memory at the sender [0], receiver [1] */
    /* `adapter`: the adapter reaches GPU memory. `mapping`: a GPU mapping is
     * open, by which the CPU copies to and from GPU memory. */
    bool adapter, mapping;
    /* The sender must copy GPU memory to host memory even for the protocol
     * GATHER. */
    bool packs;
    /* For ranks of one host. `reads`: the receiver can read the sender's
     * memory. `opens`: the sender can open the receiver's GPU memory. */
    bool reads, opens;
    /* Eager messages of more than this many bytes are sent in parts; 0: no
     * message is. */
    size_t whole;
    enum nw_regime regime;
};
/* Returns the predicted seconds of a message of `bytes` bytes with this
 * protocol and copy method; INFINITY if this combination is impossible. */
double nw_cost_of_protocol(const struct nw_ends *ends,
                           struct nw_protocol_copy method, uint64_t bytes);

#endif

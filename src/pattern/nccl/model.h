/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model of the messages that an NCCL algorithm makes each rank send. The
 * formulas are in nodewise-profile(1), section NCCL. PXN changes the route of a
 * message but not its endpoints; so this model ignores PXN, and the topology
 * describes it (gpu_messages: pxn).
 */
#ifndef NW_PATTERN_NCCL_MODEL_H
#define NW_PATTERN_NCCL_MODEL_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stdint.h>

/* NCCL's functions, with the names that its profiler interface and its
 * Inspector write. */
#define NW_NCCL_FUNCTION_LIST(X)                                               \
    X(ALL_REDUCE, "AllReduce")                                                 \
    X(REDUCE_SCATTER, "ReduceScatter")                                         \
    X(ALL_GATHER, "AllGather")                                                 \
    X(BROADCAST, "Broadcast")                                                  \
    X(REDUCE, "Reduce")                                                        \
    X(ALL_TO_ALL, "AlltoAll")                                                  \
    X(GATHER, "Gather")                                                        \
    X(SCATTER, "Scatter")                                                      \
    X(SEND, "Send")                                                            \
    X(RECV, "Recv")
#define NW_NCCL_ALGORITHM_LIST(X)                                              \
    X(UNKNOWN, "-")                                                            \
    X(TREE, "TREE")                                                            \
    X(RING, "RING")                                                            \
    X(COLLNET_DIRECT, "COLLNET_DIRECT")                                        \
    X(COLLNET_CHAIN, "COLLNET_CHAIN")                                          \
    X(NVLS, "NVLS")                                                            \
    X(NVLS_TREE, "NVLS_TREE")                                                  \
    X(PAT, "PAT")                                                              \
    X(CE, "CE")

#define NW_NCCL_ENUM(name, text) NW_NCCL_##name,
enum nw_nccl_function { NW_NCCL_FUNCTION_LIST(NW_NCCL_ENUM) NW_NCCL_FUNCTIONS };
enum nw_nccl_algorithm {
    NW_NCCL_ALGORITHM_LIST(NW_NCCL_ENUM) NW_NCCL_ALGORITHMS
};
#undef NW_NCCL_ENUM

/* Both return false if the name is unknown. They ignore case, as old versions
 * of NCCL write AllToAll. */
bool nw_nccl_function_find(const char *name, enum nw_nccl_function *out);
bool nw_nccl_algorithm_find(const char *name, enum nw_nccl_algorithm *out);

/* The ranks of a communicator and their nodes. Nodes are numbered by their
 * lowest rank. */
struct nw_nccl_group {
    int32_t size, node_count;
    int32_t *node;   /* [size] node of each rank */
    int32_t *local;  /* [size] index of each rank within its node */
    int32_t *first;  /* [node_count + 1] start of each node in member[] */
    int32_t *member; /* [size] ranks, node by node */
    int32_t channel_count;
    /* [channel_count][size] next rank in each ring; NULL: rank order */
    int32_t *next;
};

/* Equal calls of one rank. `bytes` is the sum over all calls of count times
 * size of the type, with the count that the caller passed to NCCL. */
struct nw_nccl_call {
    enum nw_nccl_function function;
    enum nw_nccl_algorithm algorithm;
    int32_t root; /* root rank, or receiver of a send; -1 if unused */
    uint64_t bytes, calls;
};

/* Receives the messages: `to` is a rank of the communicator. */
struct nw_nccl_sink {
    nw_status (*send)(void *context, int32_t to, uint64_t bytes,
                      uint64_t messages);
    void *context;
};

/* Passes the messages that `rank` sends to other ranks in these calls to the
 * sink. */
NW_MUST_CHECK nw_status nw_nccl_sends(const struct nw_nccl_group *group,
                                      int32_t rank,
                                      const struct nw_nccl_call *call,
                                      const struct nw_nccl_sink *sink);

#endif

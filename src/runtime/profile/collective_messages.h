/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists the messages that this rank sends in a collective call by a given
 * algorithm. Uses no MPI calls. The algorithms are those of Open MPI's
 * components "base" and "tuned" and of MPICH; nodewise-profile(1) has a table
 * of them.
 */
#ifndef NW_PROFILE_COLLECTIVE_MESSAGES_H
#define NW_PROFILE_COLLECTIVE_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(constant, name in NODEWISE_COLLECTIVES) */
#define NW_ALGORITHM_LIST(X)                                                   \
    X(LINEAR, "linear")                                                        \
    X(CHAIN, "chain")                                                          \
    X(PIPELINE, "pipeline")                                                    \
    X(BINARY, "binary")                                                        \
    X(BINOMIAL, "binomial")                                                    \
    X(SCATTER_ALLGATHER, "scatter-allgather")                                  \
    X(RECURSIVE_DOUBLING, "recursive-doubling")                                \
    X(RECURSIVE_HALVING, "recursive-halving")                                  \
    X(RABENSEIFNER, "rabenseifner")                                            \
    X(RING, "ring")                                                            \
    X(NEIGHBOR, "neighbor")                                                    \
    X(BRUCK, "bruck")                                                          \
    X(PAIRWISE, "pairwise")

enum nw_collective_algorithm {
    NW_ALGORITHM_AUTO,
#define NW_ALGORITHM_ENUM(name, text) NW_ALGORITHM_##name,
    NW_ALGORITHM_LIST(NW_ALGORITHM_ENUM)
#undef NW_ALGORITHM_ENUM
        NW_ALGORITHM_COUNT
};

/* This rank in a group of `size` ranks. A model calls `send` for each message
 * that this rank sends, with the destination and the bytes. */
struct nw_model {
    int rank, size;
    void (*send)(void *context, int to, uint64_t bytes);
    void *context;
};

/* `bytes` returns the bytes of the block of a rank; `context` is its argument.
 */
struct nw_blocks {
    uint64_t (*bytes)(const void *context, int rank);
    const void *context;
};

/* The models. `algorithm` must be one that choice.c allows for this call. */
void nw_model_bcast(const struct nw_model *model,
                    enum nw_collective_algorithm algorithm, int root,
                    uint64_t bytes);
void nw_model_reduce(const struct nw_model *model,
                     enum nw_collective_algorithm algorithm, int root,
                     uint64_t bytes);
void nw_model_allreduce(const struct nw_model *model,
                        enum nw_collective_algorithm algorithm, uint64_t bytes);
void nw_model_allgather(const struct nw_model *model,
                        enum nw_collective_algorithm algorithm,
                        const struct nw_blocks *blocks);
void nw_model_alltoall(const struct nw_model *model,
                       enum nw_collective_algorithm algorithm, uint64_t bytes);
void nw_model_reduce_scatter(const struct nw_model *model,
                             enum nw_collective_algorithm algorithm,
                             const struct nw_blocks *blocks);
/* In gather, scatter and alltoall, `bytes` is the size of one rank's block; in
 * all other calls, of the whole vector. */
void nw_model_gather(const struct nw_model *model,
                     enum nw_collective_algorithm algorithm, int root,
                     uint64_t bytes);
void nw_model_scatter(const struct nw_model *model,
                      enum nw_collective_algorithm algorithm, int root,
                      uint64_t bytes);
void nw_model_scan(const struct nw_model *model,
                   enum nw_collective_algorithm algorithm, uint64_t bytes);
void nw_model_barrier(const struct nw_model *model,
                      enum nw_collective_algorithm algorithm);

#endif

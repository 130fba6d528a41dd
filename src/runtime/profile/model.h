/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which messages the algorithm of a collective call makes one rank send. Pure
 * arithmetic, no MPI: each rank models its own sends and no more. The
 * algorithms are those of Open MPI's base and tuned components and of MPICH;
 * nodewise-profile(1) has them in a table.
 */
#ifndef NW_PROFILE_MODEL_H
#define NW_PROFILE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* name in NODEWISE_COLLECTIVES */
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

/* One rank of a group, and what becomes of each message it sends. */
struct nw_model {
    int rank, size;
    void (*send)(void *context, int to, uint64_t bytes);
    void *context;
};

/* Blocks of a vector, one for each rank. */
struct nw_blocks {
    uint64_t (*bytes)(const void *context, int rank);
    const void *context;
};

/* The algorithm must be one that nw_model_has names for the call. */
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
/* Equal blocks. */
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

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes the bytes of collective calls to pairs of ranks, by the model of
 * an algorithm. A rank knows only its own receive buffer, so it assumes that
 * the buffers of its partners are in the same kind of memory (host or GPU) as
 * its own.
 */
#ifndef NW_PROFILE_COLLECTIVE_H
#define NW_PROFILE_COLLECTIVE_H

#include "runtime/profile/record.h"

/* A buffer argument with one block for each rank or, in neighbourhood calls,
 * for each neighbour. Counts are int or, in the large-count functions,
 * MPI_Count. All blocks have the same datatype, or each has its own. */
struct nw_vector {
    const void *at;
    const void *counts;
    size_t width; /* size of one count in bytes */
    MPI_Datatype type;
    const MPI_Datatype *types; /* NULL: all blocks have `type` */
    int64_t same;              /* count of each block if `counts` is NULL */
};
#define NW_VECTOR(at, counts, type)                                            \
    ((struct nw_vector){(at), (counts), sizeof *(counts), (type), NULL, 0})
#define NW_TYPED_VECTOR(at, counts, types)                                     \
    ((struct nw_vector){(at), (counts), sizeof *(counts), MPI_DATATYPE_NULL,   \
                        (types), 0})
#define NW_BLOCKS(at, count, type)                                             \
    ((struct nw_vector){(at), NULL, 0, (type), NULL, (int64_t)(count)})

int64_t nw_vector_count(const struct nw_vector *vector, int index);

/* Reads NODEWISE_COLLECTIVES and warns once about an invalid word. */
void nw_collective_open(void);

void nw_barrier(MPI_Comm comm);
void nw_bcast(struct nw_data data, int root, MPI_Comm comm);
void nw_reduced(struct nw_data sent, const void *result, int root,
                MPI_Comm comm);
void nw_allreduced(struct nw_data sent, const void *result, MPI_Comm comm);
void nw_scanned(struct nw_data sent, const void *result, MPI_Comm comm);
void nw_gathered(struct nw_data sent, struct nw_data received, int root,
                 MPI_Comm comm);
void nw_gathered_vector(struct nw_data sent, struct nw_vector received,
                        int root, MPI_Comm comm);
void nw_scattered(struct nw_data sent, struct nw_data received, int root,
                  MPI_Comm comm);
void nw_scattered_vector(struct nw_vector sent, struct nw_data received,
                         int root, MPI_Comm comm);
void nw_allgathered(struct nw_data sent, struct nw_data received,
                    MPI_Comm comm);
void nw_allgathered_vector(struct nw_data sent, struct nw_vector received,
                           MPI_Comm comm);
void nw_exchanged(struct nw_data sent, struct nw_data received, MPI_Comm comm);
void nw_exchanged_vector(struct nw_vector sent, struct nw_vector received,
                         MPI_Comm comm);
/* `received` describes the blocks of the result; `sent` is the buffer with the
 * data to reduce. */
void nw_reduce_scattered(const void *sent, struct nw_vector received,
                         MPI_Comm comm);
void nw_reduce_scattered_block(const void *sent, struct nw_data received,
                               MPI_Comm comm);

/* Neighbourhood collectives: each rank sends one message to each destination in
 * the communicator's topology, so no model is needed. */
void nw_neighbours_gathered(struct nw_data sent, const void *received,
                            MPI_Comm comm);
void nw_neighbours_exchanged(struct nw_vector sent, const void *received,
                             MPI_Comm comm);

#endif

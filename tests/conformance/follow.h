/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a test of MPICH use its new rank. Some tests create a topology on
 * MPI_COMM_WORLD and continue with the rank that they had there. With MPICH,
 * which never changes the order, this is also the new rank. A file includes
 * this header before such a test. If the test stores its rank in a variable,
 * the file defines FOLLOW_RANK as that variable. From the creation of the
 * topology to its MPI_Comm_free, FOLLOW_RANK holds the rank in the topology,
 * and MPI_Comm_rank returns this rank also for MPI_COMM_WORLD.
 */
#ifndef FOLLOW_H
#define FOLLOW_H

#include <mpi.h>

static MPI_Comm follow_made = MPI_COMM_NULL;

#ifdef FOLLOW_RANK
#define FOLLOW_AT &FOLLOW_RANK
#else
#define FOLLOW_AT (int *)0
#endif

static inline int follow_ask(MPI_Comm comm, int *rank)
{
    return MPI_Comm_rank(comm == MPI_COMM_WORLD && follow_made != MPI_COMM_NULL
                             ? follow_made
                             : comm,
                         rank);
}

/* A rank without a vertex gets a number beyond the last rank. */
static inline int follow(int code, const MPI_Comm *out, int *rank)
{
    MPI_Comm made = *out;

    follow_made = made;
    if (rank && made != MPI_COMM_NULL)
        MPI_Comm_rank(made, rank);
    else if (rank)
        MPI_Comm_size(MPI_COMM_WORLD, rank);
    return code;
}

static inline int follow_free(MPI_Comm *comm, int *rank)
{
    if (*comm != follow_made)
        return MPI_Comm_free(comm);
    follow_made = MPI_COMM_NULL;
    if (rank)
        MPI_Comm_rank(MPI_COMM_WORLD, rank);
    return MPI_Comm_free(comm);
}

#define MPI_Comm_rank(comm, rank) follow_ask(comm, rank)
#define MPI_Comm_free(comm) follow_free(comm, FOLLOW_AT)
#define MPI_Cart_create(comm, count, dims, periods, reorder, out)              \
    follow(MPI_Cart_create(comm, count, dims, periods, reorder, out), out,     \
           FOLLOW_AT)
#define MPI_Dist_graph_create(comm, n, from, degrees, to, w, info, r, out)     \
    follow(MPI_Dist_graph_create(comm, n, from, degrees, to, w, info, r, out), \
           out, FOLLOW_AT)
#define MPI_Dist_graph_create_adjacent(comm, in, from, v, n, to, w, info, r,   \
                                       out)                                    \
    follow(MPI_Dist_graph_create_adjacent(comm, in, from, v, n, to, w, info,   \
                                          r, out),                             \
           out, FOLLOW_AT)

#endif

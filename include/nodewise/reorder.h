/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call that creates a reordered communicator. It is in libnodewise-openmpi.so
 * and libnodewise-mpich.so, which must be preloaded or linked ahead of the MPI
 * library. This header includes mpi.h itself. The call works without
 * NODEWISE_REORDER. nodewise-reorder(7) says how ranks are placed.
 */
#ifndef NODEWISE_REORDER_H
#define NODEWISE_REORDER_H

#ifndef MPI_VERSION
#include <mpi.h>
#endif

#include <nodewise/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A Cartesian grid with the meaning that MPI_Cart_create gives it. Borrowed for
 * the call. */
struct nw_reorder_grid {
    int count; /* number of dimensions */
    const int *dims, *periods;
    const double *weights; /* traffic along each dimension, in any unit; NULL:
                              found as nodewise-reorder(7) says */
};

/* Creates a communicator with this grid. Its ranks are reordered if that saves
 * at least the fraction NODEWISE_REORDER_GAIN of the hop-bytes. The process
 * with new rank k takes vertex k of the grid. *out is MPI_COMM_NULL on ranks
 * that the grid does not need. Returns an MPI error code. Collective over comm;
 * a program's first call is collective over MPI_COMM_WORLD. */
NW_MPI_API int nw_reorder_cart_create(MPI_Comm comm,
                                      const struct nw_reorder_grid *grid,
                                      MPI_Comm *out);

#ifdef __cplusplus
}
#endif
#endif

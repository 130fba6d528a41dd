/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reordered communicators by a call of their own, in libnodewise-openmpi.so and
 * libnodewise-mpich.so, preloaded or linked ahead of the MPI library. This
 * header includes mpi.h itself. NODEWISE_REORDER need not be set.
 * nodewise-reorder(7) says how ranks are placed.
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

/* A Cartesian grid, as of MPI_Cart_create. Borrowed for the call. */
struct nw_reorder_grid {
    int count; /* dimensions */
    const int *dims, *periods;
    const double *weights; /* traffic along each dimension, in any unit; NULL:
                              as nodewise-reorder(7) finds them */
};

/* A communicator with this grid whose ranks are reordered if that saves at
 * least NODEWISE_REORDER_GAIN of the hop-bytes: the process with new rank k
 * takes vertex k of the grid. *out is MPI_COMM_NULL for ranks that are left
 * over. An MPI error code. Collective over comm; a program's first call is
 * collective over MPI_COMM_WORLD. */
NW_MPI_API int nw_reorder_cart_create(MPI_Comm comm,
                                      const struct nw_reorder_grid *grid,
                                      MPI_Comm *out);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Assigns GPUs of each node to its ranks if NODEWISE_GPU=assign. */
#ifndef NW_REORDER_GPUS_H
#define NW_REORDER_GPUS_H

#include "runtime/mpi_symbols.h"

#include <stdbool.h>
#include <stdint.h>

/* Bytes that this rank sends to the rank `peer` of the communicator. */
struct nw_gpu_edge {
    int64_t peer, bytes;
};

/* Runs the third phase of the MAGC mapping on each node of `comm`. The leader
 * of each node reads the node's GPUs and assigns one to each rank by the edges
 * inside the node. Each rank then sets the variables by which CUDA and ROCm
 * choose devices. If CUDA already runs in a rank of the node, or the user chose
 * devices, a message says so and nothing changes on that node. Has an effect
 * only at the first call. Collective. */
void nw_gpus_assign(MPI_Comm comm, const struct nw_gpu_edge *edge, int count);

#endif

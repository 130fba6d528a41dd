/* SPDX-License-Identifier: BSD-3-Clause */
/* Assigns the GPUs of each node to its ranks, if NODEWISE_GPU is "assign". */
#ifndef NW_REORDER_GPUS_H
#define NW_REORDER_GPUS_H

#include "runtime/mpi_symbols.h"

#include <stdbool.h>
#include <stdint.h>

/* The bytes that this rank sends to rank `peer` of the communicator. */
struct nw_gpu_edge {
    int64_t peer, bytes;
};

/* Runs the third phase of the MAGC mapping on each node of `comm`. The leader
 * of each node finds the node's GPUs and assigns one to each rank, by the edges
 * inside the node. Each rank then sets the variables by which CUDA and ROCm
 * select devices. If CUDA already runs in a rank of the node, or if the user
 * has chosen devices for one, reports this and changes nothing on this node.
 * Only the first call has an effect. Collective. */
void nw_gpus_assign(MPI_Comm comm, const struct nw_gpu_edge *edge, int count);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* NODEWISE_GPU=assign: which GPU of its node each rank takes. */
#ifndef NW_REORDER_GPUS_H
#define NW_REORDER_GPUS_H

#include "runtime/mpi_symbols.h"

#include <stdbool.h>
#include <stdint.h>

/* The bytes that a rank sends to `peer`, a rank of the communicator. */
struct nw_gpu_edge {
    int64_t peer, bytes;
};

/* MAGC's third phase on every node of `comm`. The leader of each node reads its
 * GPUs and assigns one to each rank by the edges inside the node. The ranks set
 * the variables that CUDA and ROCm read when they start. If CUDA runs already
 * in a rank of the node, or the user chose devices, a message says so and
 * nothing changes there. Once a program; later calls do nothing. Collective. */
void nw_gpus_assign(MPI_Comm comm, const struct nw_gpu_edge *edge, int count);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* NODEWISE_GPU=assign: which GPU of its node each rank takes. */
#ifndef NW_REORDER_GPUS_H
#define NW_REORDER_GPUS_H

#include "runtime/flavour.h"

#include <stdbool.h>
#include <stdint.h>

/* What a rank sends to another one of the communicator. */
struct nw_gpu_edge {
    int64_t peer, bytes;
};

/* MAGC's third phase on every node of `comm`: the leader of each reads its
 * GPUs and gives one to each rank by the edges inside the node, through the
 * variables that CUDA and ROCm read when they start. Where CUDA runs already in
 * a rank of the node, or the user chose devices, it says so and changes
 * nothing there. Once a program; later calls do nothing. Collective. */
void nw_gpus_assign(MPI_Comm comm, const struct nw_gpu_edge *edge, int count);

#endif

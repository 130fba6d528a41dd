/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the MPI library takes GPU memory by itself. */
#ifndef NW_RUNTIME_AWARE_H
#define NW_RUNTIME_AWARE_H

#include <stdbool.h>

/* NODEWISE_GPU_AWARE where it is set, else what the library says. */
bool nw_mpi_takes_gpu_memory(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells whether the MPI library accepts GPU buffers itself. */
#ifndef NW_RUNTIME_AWARE_H
#define NW_RUNTIME_AWARE_H

#include <stdbool.h>

/* Returns whether MPI calls accept pointers to GPU memory: by the variable
 * NODEWISE_GPU_AWARE if it is set and not empty, else by asking the MPI library
 * (aware.c). */
bool nw_mpi_takes_gpu_memory(void);

#endif

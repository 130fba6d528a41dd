/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the heat example share: heat.c marches, gpu.c does so in
 * GPU memory, check.c compares with a serial run and writes the file. */
#ifndef HEAT_H
#define HEAT_H

#include "step.h"

#include <nodewise/halo_mpi.h>

#include <stdbool.h>
#include <stdint.h>

struct run {
    int64_t n;
    int steps;
    bool corners, blocking, gpu;
    const char *file;
    int rank, size;
};

/* A field with one layer around it, in the host's memory or a GPU's: strides
 * of y and z in elements. */
struct field {
    double *at;
    int64_t y, z;
};
struct field field_of(const nw_halo *halo, int32_t quantity);
/* A box of cells, local indexes, one step on. */
void step(const struct run *run, const struct nw_halo_box *box, struct field to,
          struct field from);
_Noreturn void fail(const char *what);

/* One layer of ghost cells on every side: cell c of the domain is at local
 * index c - low + 1. */
double *cell(struct field field, const struct nw_halo_piece *piece, int64_t x,
             int64_t y, int64_t z);
/* Visits own cells in order. */
#define FOR_OWN(piece, x, y, z)                                                \
    for (int64_t z = (piece)->box.low[2]; z < (piece)->box.high[2]; z++)       \
        for (int64_t y = (piece)->box.low[1]; y < (piece)->box.high[1]; y++)   \
            for (int64_t x = (piece)->box.low[0]; x < (piece)->box.high[0]; x++)

/* --- check.c --- */

double start_at(int64_t x, int64_t y, int64_t z);
/* Own cells of all ranks that differ from a serial run, in any bit. */
long compare(const struct run *run, const struct nw_halo_piece *piece,
             struct field field);
/* 0, or 1 where the file could not be written. */
int write_vtk(const struct run *run, const struct nw_halo_piece *piece,
              struct field field);

/* --- gpu.c --- */

/* Takes the rank's GPU and gives the options its number and stream. */
void gpu_open(struct nw_halo_options *options);
void gpu_step(const struct run *run, const struct nw_halo_box *box,
              struct field to, struct field from);
/* Waits for the stream. */
void gpu_wait(void);
/* The piece's cells from the host's copy, and back into it. */
void gpu_put(struct field to, const struct field *host, int64_t planes);
void gpu_get(struct field *host, struct field from, int64_t planes);

#endif

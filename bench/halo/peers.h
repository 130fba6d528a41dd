/* SPDX-License-Identifier: BSD-3-Clause */
/* The same exchange by other means, with which ours is compared: 26 neighbours
 * on a periodic grid of ranks, n cells along each side of a rank, separate
 * float arrays. */
#ifndef BENCH_HALO_PEERS_H
#define BENCH_HALO_PEERS_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUANTITIES 4

/* The exchange that all contestants must make. */
struct setup {
    int n, radius;
    MPI_Comm grid; /* periodic, dimensions z, y, x */
    int dims[3], place[3];
    int rank, size;
    int padded;               /* cells along a side, with ghost cells */
    float *array[QUANTITIES]; /* the arrays of our halo, for peers that can
                                 use them */
};

struct peer {
    const char *name;
    /* Returns NULL if the peer is not available here. Collective. */
    void *(*open)(const struct setup *setup);
    float *(*array)(void *state, int quantity); /* NULL: is not checked */
    void (*exchange)(void *state);
    void (*close)(void *state);
};

extern const struct peer peer_alltoallw, peer_types, peer_naive, peer_phases,
    peer_direct, peer_dmda;

/* The rank of the neighbour in direction d = (dz + 1) * 9 + (dy + 1) * 3 + dx +
 * 1. */
int neighbour(const struct setup *setup, int d);
/* Each function sets the first cell and the number of cells of a box along z, y
 * and x. ghost_box gives the ghost box in direction d. source_box gives the own
 * cells that fill the ghost box d of the neighbour on the opposite side. */
void ghost_box(const struct setup *setup, int d, int start[3], int count[3]);
void source_box(const struct setup *setup, int d, int start[3], int count[3]);

#endif

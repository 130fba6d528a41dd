/* SPDX-License-Identifier: BSD-3-Clause */
/* The same exchange by other means, beside which ours is timed: 26 neighbours
 * on a periodic grid of ranks, n cells a side each, separate float arrays. */
#ifndef BENCH_HALO_PEERS_H
#define BENCH_HALO_PEERS_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUANTITIES 4

/* What all contestants are given. */
struct setup {
    int n, radius;
    MPI_Comm grid; /* periodic, dimensions z, y, x */
    int dims[3], place[3];
    int rank, size;
    int padded;               /* cells along a side with the ghosts */
    float *array[QUANTITIES]; /* of ours: those who can use them too */
};

struct peer {
    const char *name;
    /* NULL where it cannot be had here. Collective. */
    void *(*open)(const struct setup *setup);
    float *(*array)(void *state, int quantity); /* NULL: not to be checked */
    void (*exchange)(void *state);
    void (*close)(void *state);
};

extern const struct peer peer_alltoallw, peer_types, peer_naive, peer_phases,
    peer_direct, peer_dmda;

/* Rank of the neighbour in direction d = (dz + 1) * 9 + (dy + 1) * 3 + dx + 1.
 */
int neighbour(const struct setup *setup, int d);
/* First cell and cells of a direction's ghost box, or of the own cells that
 * fill it at the neighbour on the other side; order z, y, x. */
void ghost_box(const struct setup *setup, int d, int start[3], int count[3]);
void source_box(const struct setup *setup, int d, int start[3], int count[3]);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A Lennard-Jones liquid that is divided into boxes, one per process, as in
 * HOOMD-blue's benchmark: packing fraction 0.2, temperature 1.2, cutoff 3, time
 * step 0.005. Positions, velocities, forces and messages are in GPU memory. The
 * CPU computes, which the test double of the driver allows; no measured time
 * includes this. Instead, the program adds the time that a GPU of the paper's
 * time needs: 5 us per kernel, and 200 GB/s for the bytes that the kernel
 * moves. */
#ifndef BENCH_LJ_H
#define BENCH_LJ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LJ_CUTOFF 3.0f
/* Distance that particles may move before new lists are needed. */
#define LJ_SKIN 0.4f
#define LJ_REACH (LJ_CUTOFF + LJ_SKIN)
#define LJ_STEP 0.005f
#define LJ_DENSITY 0.38197f
#define LJ_HEAT 1.2f
enum { LJ_EVERY = 7 }; /* steps between new lists */
enum { LJ_DOWN, LJ_UP, LJ_SIDES };

struct lj_spot {
    float x[3], id; /* id is set only for positions */
};

/* The particles that leave through one face, and those that arrive through the
 * opposite one. */
struct lj_side {
    int *list, count, first, came;
    double positions, leavers; /* bytes sent in the counted steps */
};

struct lj_move {
    void *out, *in;
    size_t out_bytes, in_bytes;
    int to, from;
};

struct lj_part {
    int rank, ranks, grid[3], place[3];
    float box, low[3], high[3];
    int own, ghosts, room;
    struct lj_spot *at, *speed, *force, *packed[LJ_SIDES], *unpacked[LJ_SIDES];
    struct lj_spot *listed; /* positions when the lists were made */
    struct lj_side side[3][LJ_SIDES];
    int *first, *next, cells[3]; /* linked lists of the particles in each
                                    cell */
    int *near_from, *near;
    size_t near_room;
    double energy; /* potential energy of own particles */
    struct lj_way *way;
    double compute_s, messages_s;
};

void lj_must(bool good, const char *what);
/* Allocates GPU memory filled with zeros. */
void *lj_memory(size_t bytes);

/* lj.c: adds the time of a kernel that moves so many bytes; exchanges messages
 * through two faces. */
void lj_work(struct lj_part *part, size_t bytes);
void lj_swap(struct lj_part *part, const struct lj_move move[LJ_SIDES]);

/* parts.c: allocates the box of a rank; `particles` must be a cube of an
 * integer. */
void lj_part_new(struct lj_part *part, int particles);
void lj_part_start(struct lj_part *part, int particles);
int lj_neighbour(const struct lj_part *part, int dimension, int side);
void lj_migrate(struct lj_part *part); /* moves particles to the ranks of
                                          their boxes */
void lj_ghosts_find(struct lj_part *part);
void lj_ghosts_update(struct lj_part *part);

/* forces.c */
void lj_lists_make(struct lj_part *part);
void lj_forces(struct lj_part *part);
void lj_drift(struct lj_part *part); /* half a step of the velocities, and a
                                        step of positions */
void lj_kick(struct lj_part *part);
double lj_heat(const struct lj_part *part); /* the kinetic energy */

/* ways.c: the ways in which messages are sent: mpi, host, rendezvous, loopback,
 * fastcopy, auto */
struct lj_way;
struct lj_way *lj_way_open(const char *name);
bool lj_way_is_timed(const struct lj_way *way);
void lj_way_swap(struct lj_way *way, const struct lj_move move[LJ_SIDES]);
void lj_way_close(struct lj_way *way);
/* Prints what a message between two ranks takes by each way, by size. */
void lj_ways_measure(int rank);

#endif

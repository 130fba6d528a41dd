/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of communicators and windows as ranks of MPI_COMM_WORLD. Translated
 * once a partner and kept with the communicator until it is freed.
 */
#ifndef NW_PROFILE_COMM_H
#define NW_PROFILE_COMM_H

#include "runtime/mpi_symbols.h"

#include <stdbool.h>
#include <stdint.h>

/* Ranks outside MPI_COMM_WORLD, and MPI_PROC_NULL or invalid ranks. */
enum { NW_RANK_OUTSIDE = -1, NW_RANK_NONE = -2 };

/* A communicator or a window. */
struct nw_comm {
    int rank, size; /* in it; of the remote group in an intercommunicator */
    bool inter;
    bool gpu_window;  /* the memory that this rank gave to the window */
    bool has_targets; /* the next two are filled */
    int target_count; /* destinations in a neighbourhood */
    int *target;
};

/* `world` is congruent to MPI_COMM_WORLD, or stands for it in a program of
 * sessions; borrowed until nw_comm_close. */
void nw_comm_open(MPI_Comm world);
/* Borrowed until the communicator is freed; NULL if it cannot be looked up. */
struct nw_comm *nw_comm_find(MPI_Comm comm);
struct nw_comm *nw_win_find(MPI_Win win);
/* The rank in MPI_COMM_WORLD of `rank` in `comm`, or NW_RANK_OUTSIDE;
 * NW_RANK_NONE for MPI_PROC_NULL and invalid ranks. */
int nw_comm_world_rank(struct nw_comm *comm, int rank);
/* Called before they are freed. */
void nw_comm_gone(MPI_Comm comm);
void nw_win_gone(MPI_Win win);
void nw_comm_close(void);

#endif

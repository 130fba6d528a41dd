/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Translates ranks of communicators and windows to ranks of MPI_COMM_WORLD. The
 * rank of each partner is translated once and stored until the communicator is
 * freed.
 */
#ifndef NW_PROFILE_COMM_H
#define NW_PROFILE_COMM_H

#include "runtime/mpi_symbols.h"

#include <stdbool.h>
#include <stdint.h>

/* A rank outside MPI_COMM_WORLD; MPI_PROC_NULL or an invalid rank. */
enum { NW_RANK_OUTSIDE = -1, NW_RANK_NONE = -2 };

/* A communicator or a window. */
struct nw_comm {
    /* this process's rank; size of the remote group in an intercommunicator */
    int rank, size;
    bool inter;
    bool gpu_window;  /* this rank's memory of the window is GPU memory */
    bool has_targets; /* target_count and target are valid */
    int target_count; /* destinations of this rank in a neighbourhood call */
    int *target;
};

/* Begins the translation. `world` is congruent to MPI_COMM_WORLD, or replaces
 * it in a program with sessions; it must exist until nw_comm_close. */
void nw_comm_open(MPI_Comm world);
/* Returns the entry of a communicator, valid until the communicator is freed;
 * NULL if an MPI call fails or memory is short. */
struct nw_comm *nw_comm_find(MPI_Comm comm);
struct nw_comm *nw_win_find(MPI_Win win);
/* Returns the rank in MPI_COMM_WORLD of `rank` in `comm`; NW_RANK_OUTSIDE if
 * that process is not in MPI_COMM_WORLD; NW_RANK_NONE for MPI_PROC_NULL and
 * invalid ranks. */
int nw_comm_world_rank(struct nw_comm *comm, int rank);
/* Forgets a communicator or window. Called before it is freed. */
void nw_comm_gone(MPI_Comm comm);
void nw_win_gone(MPI_Win win);
void nw_comm_close(void);

#endif

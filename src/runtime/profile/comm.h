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

/* NW_RANK_OUTSIDE: a process outside MPI_COMM_WORLD. NW_RANK_NONE:
 * MPI_PROC_NULL or an invalid rank. */
enum { NW_RANK_OUTSIDE = -1, NW_RANK_NONE = -2 };

/* A communicator or a window. */
struct nw_comm {
    /* this process's rank; the number of ranks (in an intercommunicator, of the
     * remote group) */
    int rank, size;
    bool inter;
    bool gpu_window;  /* this rank's memory of the window is GPU memory */
    bool has_targets; /* `target_count` and `target` are valid */
    /* number of this rank's destinations in neighbourhood calls, and their
     * ranks in the communicator (MPI_PROC_NULL: none) */
    int target_count;
    int *target;
};

/* Starts the translation. `world` is congruent to MPI_COMM_WORLD, or replaces
 * it in a program with sessions. It must exist until nw_comm_close. */
void nw_comm_open(MPI_Comm world);
/* Returns the entry of a communicator, which is valid until the communicator is
 * freed. Returns NULL if an MPI call fails or memory is exhausted. */
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* A module that is linked with MPI, as modules of interpreters are: a program
 * that is not linked with MPI loads it (loader.c). */
#include <mpi.h>

#include <stdio.h>

int private_main(void);

int private_main(void)
{
    int rank, size, sum = 0, one = 1;
    MPI_Comm half;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &sum, 1, MPI_INT,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half);
    MPI_Comm_free(&half);
    if (!rank) {
        printf("sum %d of %d\n", sum, size);
        fflush(stdout);
    }
    MPI_Finalize();
    return rank ? 0 : 6; /* if a rank fails, the launcher kills the others */
}

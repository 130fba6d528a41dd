/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that talk to the next for as many seconds as the argument says. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size, mine, go = 1, in;
    double begun;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (begun = MPI_Wtime(); go;) {
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        mine = MPI_Wtime() - begun < atof(argv[argc - 1]);
        MPI_Allreduce(&mine, &go, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        usleep(1000);
    }
    MPI_Finalize();
    printf("done %d\n", rank);
    return 0;
}

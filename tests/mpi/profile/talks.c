/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank sends messages to the next until the file of the last argument
 * exists. After the first messages, rank 0 creates the file of another argument
 * before it, if any. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, size, mine, go = 1, in;
    const char *begun = argc > 2 ? argv[1] : NULL;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (go) {
        MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT,
                     (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        mine = access(argv[argc - 1], F_OK) != 0;
        MPI_Allreduce(&mine, &go, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        if (begun && !rank)
            fclose(fopen(begun, "w"));
        begun = NULL;
        usleep(1000);
    }
    MPI_Finalize();
    printf("done %d\n", rank);
    return 0;
}

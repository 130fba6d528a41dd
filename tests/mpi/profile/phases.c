/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes three steps of two phases, MPI_Pcontrol(1) and MPI_Pcontrol(2): in the
 * first, each rank sends a message to the next rank, in the second to the rank
 * before. Before the steps, each rank sends a message to itself. With an
 * argument, the ranks sleep 1.1 s before the steps.
 */
#include <mpi.h>

#include <unistd.h>

static int rank, size;

static void shift(int by, int count)
{
    double out[10] = {0}, in[10];

    MPI_Sendrecv(out, count, MPI_DOUBLE, (rank + by + size) % size, 0, in,
                 count, MPI_DOUBLE, (rank - by + size) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    shift(0, 1);
    if (argc > 1)
        usleep(1100000);
    for (int step = 0; step < 3; step++) {
        MPI_Pcontrol(1);
        shift(1, 2);
        MPI_Pcontrol(2);
        shift(-1, 10);
    }
    MPI_Finalize();
    return 0;
}

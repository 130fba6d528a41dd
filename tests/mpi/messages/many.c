/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends the given number of messages to MPI_PROC_NULL: the cost of a call is
 * the difference of two runs. */
#include <mpi.h>

#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--)
        MPI_Send(&i, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

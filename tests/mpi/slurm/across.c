/* SPDX-License-Identifier: BSD-3-Clause */
/* Talks to the rank half-way round, which block places put on another node, and
 * says where each rank is. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    static char out[100000], in[100000];
    const char *node = getenv("SLURMD_NODENAME");
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 20; i++) {
        int other = (rank + size / 2) % size;

        MPI_Sendrecv(out, sizeof out, MPI_CHAR, other, 0, in, sizeof in,
                     MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    printf("%d %s\n", rank, node ? node : "none");
    MPI_Finalize();
    return 0;
}

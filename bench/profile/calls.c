/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the cost of one point-to-point call: a rank sends to itself, the
 * shortest path that an MPI library has. Prints the nanoseconds of a pair of
 * MPI_Isend and MPI_Recv, the median of many batches. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

#define BATCHES 201
#define CALLS 2000

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double one_batch(MPI_Comm comm)
{
    double start = MPI_Wtime();
    MPI_Request request;
    int out = 0, in;

    for (int i = 0; i < CALLS; i++) {
        MPI_Isend(&out, 1, MPI_INT, 0, 0, comm, &request);
        MPI_Recv(&in, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return (MPI_Wtime() - start) / CALLS * 1e9;
}

int main(int argc, char **argv)
{
    double batch[BATCHES];

    MPI_Init(&argc, &argv);
    for (int i = 0; i < BATCHES; i++)
        batch[i] = one_batch(MPI_COMM_SELF);
    qsort(batch, BATCHES, sizeof *batch, compare);
    printf("%.1f %.1f\n", batch[BATCHES / 2], batch[BATCHES / 20]);
    MPI_Finalize();
    return 0;
}

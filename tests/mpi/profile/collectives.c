/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes one collective call three times. The arguments are the name of the call
 * and a size, for example "bcast 4096". The size in bytes is that of the
 * vector, or of a block if the call has blocks. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *in, *out;
static int n, size, root, *counts;

static void call(const char *name)
{
    if (!strcmp(name, "bcast"))
        MPI_Bcast(in, n, MPI_CHAR, root, MPI_COMM_WORLD);
    else if (!strcmp(name, "reduce"))
        MPI_Reduce(in, out, n / 4, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    else if (!strcmp(name, "allreduce"))
        MPI_Allreduce(in, out, n / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else if (!strcmp(name, "gather"))
        MPI_Gather(in, n, MPI_CHAR, out, n, MPI_CHAR, root, MPI_COMM_WORLD);
    else if (!strcmp(name, "scatter"))
        MPI_Scatter(in, n, MPI_CHAR, out, n, MPI_CHAR, root, MPI_COMM_WORLD);
    else if (!strcmp(name, "allgather"))
        MPI_Allgather(in, n, MPI_CHAR, out, n, MPI_CHAR, MPI_COMM_WORLD);
    else if (!strcmp(name, "alltoall"))
        MPI_Alltoall(in, n, MPI_CHAR, out, n, MPI_CHAR, MPI_COMM_WORLD);
    else if (!strcmp(name, "reduce_scatter"))
        MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else if (!strcmp(name, "scan"))
        MPI_Scan(in, out, n / 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else if (!strcmp(name, "barrier"))
        MPI_Barrier(MPI_COMM_WORLD);
    else
        MPI_Abort(MPI_COMM_WORLD, 2);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    n = atoi(argv[2]);
    root = argc > 3 ? atoi(argv[3]) : 0;
    in = calloc((size_t)size, (size_t)n);
    out = calloc((size_t)size, (size_t)n);
    counts = malloc((size_t)size * sizeof *counts);
    for (int i = 0; i < size; i++)
        counts[i] = n / 4;
    for (int i = 0; i < 3; i++)
        call(argv[1]);
    free(in);
    free(out);
    free(counts);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends three messages of 1000 bytes from each rank to the next, and one from
 * the last rank; then makes a grid that may be reordered, whose size must stay.
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    enum { BYTES = 1000, MESSAGES = 3 };
    char out[BYTES] = {0}, in[BYTES];
    int rank, size, length, dims[1], periods[1] = {1}, kept = 0;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Comm grid;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < MESSAGES; i++)
        MPI_Sendrecv(out, BYTES, MPI_BYTE, (rank + 1) % size, i, in, BYTES,
                     MPI_BYTE, (rank + size - 1) % size, i, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    dims[0] = size;
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 1, &grid);
    MPI_Comm_size(grid, &kept);
    MPI_Comm_free(&grid);
    MPI_Get_library_version(version, &length);
    if (!rank)
        printf("ring of %d in %.9s\n", kept, version);
    MPI_Finalize();
    return kept != size;
}

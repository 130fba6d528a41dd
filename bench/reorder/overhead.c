/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures what a reordering MPI_Graph_create costs in addition to that of the
 * MPI library: the two are called alternately on a torus of two dimensions, one
 * of which is heavier, as LAMMPS makes it. Prints the medians over the rounds
 * of the slowest rank, and the difference of the fastest rounds of both. Usage:
 * overhead ROUNDS MPI-LIBRARY */
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define HEAVY 10

typedef int creation(MPI_Comm, int, const int[], const int[], int, MPI_Comm *);

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

/* Makes the graph of the torus. Rows are the longer dimension; an edge is
 * listed as often as it is heavy. */
static void make_graph(int size, int *index, int *edges)
{
    int dims[2] = {0, 0}, at = 0;

    MPI_Dims_create(size, 2, dims);
    for (int v = 0; v < size; v++) {
        int row = v / dims[1], column = v % dims[1];

        for (int step = -1; step <= 1; step += 2) {
            for (int k = 0; k < HEAVY; k++)
                edges[at++] =
                    (row + step + dims[0]) % dims[0] * dims[1] + column;
            edges[at++] = row * dims[1] + (column + step + dims[1]) % dims[1];
        }
        index[v] = at;
    }
}

static double time_one(creation *create, int size, const int *index,
                       const int *edges)
{
    double begun, taken, longest;
    MPI_Comm made;

    MPI_Barrier(MPI_COMM_WORLD);
    begun = MPI_Wtime();
    create(MPI_COMM_WORLD, size, index, edges, 1, &made);
    taken = MPI_Wtime() - begun;
    MPI_Allreduce(&taken, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Comm_free(&made);
    return longest;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 101, rank, size;
    void *library = dlopen(argc > 2 ? argv[2] : "libmpi.so.40", RTLD_NOW);
    creation *trivial = NULL;
    double *plain = calloc((size_t)rounds, sizeof *plain);
    double *ours = calloc((size_t)rounds, sizeof *ours);
    double *beyond = calloc((size_t)rounds, sizeof *beyond);
    int *index, *edges;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (library)
        *(void **)&trivial = dlsym(library, "PMPI_Graph_create");
    if (!trivial)
        MPI_Abort(MPI_COMM_WORLD, 1);
    index = calloc((size_t)size, sizeof *index);
    edges = calloc((size_t)size * 2 * (HEAVY + 1), sizeof *edges);
    make_graph(size, index, edges);
    for (int i = 0; i < rounds; i++) {
        plain[i] = time_one(trivial, size, index, edges);
        ours[i] = time_one(MPI_Graph_create, size, index, edges);
        beyond[i] = ours[i] - plain[i];
    }
    if (!rank) {
        double middle = median(beyond, rounds);

        printf("%5d ranks: trivial %7.2f ms, ours %7.2f ms", size,
               1e3 * median(plain, rounds), 1e3 * median(ours, rounds));
        printf(", beyond %7.2f ms, between the fastest %6.2f ms\n",
               1e3 * middle, 1e3 * (ours[0] - plain[0]));
    }
    MPI_Finalize();
    return 0;
}

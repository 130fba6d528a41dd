/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LAMMPS as the paper adapted it: its communicator comes from MPI_Graph_create
 * with the graph of an earlier profile. LAMMPS itself takes neighbours' ranks
 * from a grid and uses them in its world, so its world must be in order first.
 * Usage: lammps GRAPH|- INPUT; GRAPH has lines "from to weight".
 */
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *opener(int, char **, MPI_Comm, void **);
typedef void *reader(void *, const char *);
typedef void closer(void *);

static void fail(const char *what)
{
    fprintf(stderr, "lammps: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* An edge stands as often as it weighs. */
static MPI_Comm create(const char *path)
{
    FILE *file = fopen(path, "r");
    int size, from, to, weight, at = 0, *index, *edges;
    MPI_Comm made;

    if (!file)
        fail(path);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    index = calloc((size_t)size, sizeof *index);
    edges = calloc((size_t)size * (size_t)size * 10, sizeof *edges);
    while (fscanf(file, "%d %d %d", &from, &to, &weight) == 3)
        for (int k = 0; k < weight; k++) {
            edges[at++] = to; /* the lines are sorted by `from` */
            index[from]++;
        }
    for (int v = 1; v < size; v++)
        index[v] += index[v - 1];
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 1, &made);
    fclose(file);
    free(index);
    free(edges);
    return made;
}

int main(int argc, char **argv)
{
    char *words[] = {"lammps", "-screen", "none", "-log", "log.lammps", NULL};
    void *library, *lammps = NULL;
    opener *open = NULL;
    reader *read = NULL;
    closer *close = NULL;
    MPI_Comm world;

    MPI_Init(&argc, &argv);
    library = dlopen("liblammps.so.0", RTLD_NOW | RTLD_GLOBAL);
    if (!library || argc != 3)
        fail(library ? "GRAPH|- INPUT" : dlerror());
    *(void **)&open = dlsym(library, "lammps_open");
    *(void **)&read = dlsym(library, "lammps_file");
    *(void **)&close = dlsym(library, "lammps_close");
    world = strcmp(argv[1], "-") ? create(argv[1]) : MPI_COMM_WORLD;
    open(5, words, world, &lammps);
    read(lammps, argv[2]);
    close(lammps);
    MPI_Finalize();
    return 0;
}

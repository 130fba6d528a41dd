/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs the applications of the paper on MPI topology functions. They are
 * kernels in the form of CG and MG of the NAS benchmarks (nas.h), and LAMMPS,
 * which is called as a library with inputs in the form of its friction, pour
 * and couple examples. Each application runs on the communicator that it gets
 * and reports whether its result is right.
 *
 *   applications graph FILE...
 *       calls MPI_Graph_create for the lines "from to weight" of each file;
 *       prints which rank got which vertex
 *   applications play NAME
 *       runs once, in the order of MPI_COMM_WORLD
 *   applications time PLAN ROUNDS
 *       runs every order of a plan ("NAME ORDER vertex...") in turns; prints a
 *       line of seconds, the seconds in MPI, and the result of the check
 */
#include "nas.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ORDERS 10
/* How often all coordinates are sent to all ranks and back. */
#define COUPLED 6

void fail(const char *what)
{
    fprintf(stderr, "applications: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* --- LAMMPS --- */

static struct {
    void *(*open)(int, char **, MPI_Comm, void **);
    void (*file)(void *, const char *);
    char *(*command)(void *, const char *);
    double (*thermo)(void *, const char *);
    double (*natoms)(void *);
    void (*gather)(void *, const char *, int, int, void *);
    void (*scatter)(void *, const char *, int, int, void *);
    void (*close)(void *);
} lammps;

static void find(void *library, const char *name, void *function)
{
    *(void **)function = dlsym(library, name);
    if (!*(void **)function)
        fail(name);
}

static void load_lammps(void)
{
    void *library = dlopen("liblammps.so.0", RTLD_NOW | RTLD_GLOBAL);

    if (!library)
        fail(dlerror());
    find(library, "lammps_open", &lammps.open);
    find(library, "lammps_file", &lammps.file);
    find(library, "lammps_command", &lammps.command);
    find(library, "lammps_get_thermo", &lammps.thermo);
    find(library, "lammps_get_natoms", &lammps.natoms);
    find(library, "lammps_gather_atoms", &lammps.gather);
    find(library, "lammps_scatter_atoms", &lammps.scatter);
    find(library, "lammps_close", &lammps.close);
}

/* Acts as another program that changes the position of the first atom every few
 * steps. */
static void couple(void *instance)
{
    int atoms = (int)lammps.natoms(instance);
    double *x = calloc(3 * (size_t)atoms, sizeof *x);

    for (int i = 0; i < COUPLED; i++) {
        lammps.gather(instance, "x", 1, 3, x);
        x[0] += 0.01;
        lammps.scatter(instance, "x", 1, 3, x);
        lammps.command(instance, "run 2 post no");
    }
    free(x);
}

/* Runs an input; returns the quantity that it prints at the end, which has the
 * same digits with the same decomposition. */
static double run_lammps(MPI_Comm comm, const char *name, double *seconds)
{
    char *words[] = {"lammps", "-screen", "none", "-log", "none", NULL};
    char input[64];
    void *instance;
    double begun, found;

    if (!lammps.open)
        load_lammps();
    snprintf(input, sizeof input, "in.%s", name);
    instance = lammps.open(5, words, comm, NULL);
    lammps.file(instance, input);
    MPI_Barrier(comm);
    messages_begin();
    begun = MPI_Wtime();
    if (strcmp(name, "couple"))
        lammps.command(instance, "run ${steps} post no");
    else
        couple(instance);
    MPI_Barrier(comm);
    *seconds = MPI_Wtime() - begun;
    messages_end();
    found = lammps.thermo(instance, "etotal");
    lammps.close(instance);
    return found;
}

/* --- one run --- */

static double play(MPI_Comm comm, const char *name, double seconds[2])
{
    double mine[2], found;

    if (!strcmp(name, "cg"))
        found = cg(comm, &mine[0]);
    else if (!strcmp(name, "mg"))
        found = mg(comm, &mine[0]);
    else
        found = run_lammps(comm, name, &mine[0]);
    mine[1] = messages_took();
    PMPI_Allreduce(mine, seconds, 2, MPI_DOUBLE, MPI_SUM, comm);
    return found;
}

/* --- graphs --- */

/* Creates the graph of a file: an edge is listed as often as its weight; the
 * lines are sorted by `from`. */
static void create_graph(const char *path)
{
    int size, rank, from, to, weight, at = 0, *index, *edges, *vertex;
    FILE *file = fopen(path, "r");
    MPI_Comm made;

    if (!file)
        fail(path);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    index = calloc((size_t)size, sizeof *index);
    edges = calloc((size_t)size * (size_t)size * 10, sizeof *edges);
    vertex = calloc((size_t)size, sizeof *vertex);
    while (fscanf(file, "%d %d %d", &from, &to, &weight) == 3)
        for (int k = 0; k < weight; k++) {
            edges[at++] = to;
            index[from]++;
        }
    fclose(file);
    for (int v = 1; v < size; v++)
        index[v] += index[v - 1];
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 1, &made);
    MPI_Comm_rank(made, &from);
    MPI_Gather(&from, 1, MPI_INT, vertex, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int r = 0; !rank && r < size; r++)
        printf("%s%s %d%s", r ? "" : "took ", r ? "" : path, vertex[r],
               r < size - 1 ? "" : "\n");
    MPI_Comm_free(&made);
    free(index);
    free(edges);
    free(vertex);
}

/* --- a plan --- */

/* An order of a plan: its name and the vertex of each rank. */
struct order {
    char name[24];
    MPI_Comm comm;
};

/* Reads a line "NAME ORDER vertex...". */
static void read_order(const char *line, char *name, struct order *order)
{
    int rank, vertex = -1, used, skip = 0;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (sscanf(line, "%23s %23s%n", name, order->name, &skip) != 2)
        fail("a line without a name");
    for (int r = 0; r <= rank; r++, skip += used)
        if (sscanf(line + skip, "%d%n", &vertex, &used) != 1)
            fail("an order that is too short");
    MPI_Comm_split(MPI_COMM_WORLD, 0, vertex, &order->comm);
}

static void time_plan(const char *path, int rounds)
{
    struct order order[ORDERS];
    char line[8192], name[24] = "";
    FILE *file = fopen(path, "r");
    int orders = 0, rank;

    if (!file)
        fail(path);
    while (orders < ORDERS && fgets(line, sizeof line, file))
        read_order(line, name, &order[orders++]);
    fclose(file);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = -1; round < rounds; round++)
        for (int i = 0; i < orders; i++) {
            const struct order *now = &order[(round + 1 + i) % orders];
            double seconds[2], found = play(now->comm, name, seconds);
            int first;

            MPI_Comm_rank(now->comm, &first);
            if (!first && round >= 0)
                printf("time %s %s %.9f %.9f %.17g\n", name, now->name,
                       seconds[0], seconds[1], found);
            fflush(stdout);
        }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc > 2 && !strcmp(argv[1], "graph")) {
        for (int i = 2; i < argc; i++)
            create_graph(argv[i]);
    } else if (argc == 3 && !strcmp(argv[1], "play")) {
        double seconds[2], found = play(MPI_COMM_WORLD, argv[2], seconds);
        int rank;

        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (!rank)
            printf("time %s play %.9f %.9f %.17g\n", argv[2], seconds[0],
                   seconds[1], found);
    } else if (argc == 4 && !strcmp(argv[1], "time")) {
        time_plan(argv[2], atoi(argv[3]));
    } else {
        fail("graph FILE... | play NAME | time PLAN ROUNDS");
    }
    MPI_Finalize();
    return 0;
}

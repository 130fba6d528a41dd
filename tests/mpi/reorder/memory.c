/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets each allocation of Nodewise fail in turn, on one rank only, in each call
 * that creates a communicator with a topology. These calls are collective over
 * the old communicator (MPI 4.0, 8.5), and the program has done nothing wrong:
 * all ranks must return MPI_SUCCESS and a communicator of all ranks, in
 * whatever order. An alarm ends ranks that wait forever.
 * Usage: memory VICTIM MOST: lets at most the first MOST allocations fail.
 * Usage: memory VICTIM init FAILING: the allocation with this index fails in
 * MPI_Init instead, and the calls come afterwards. */
#include "support/short_memory.h"

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int rank, size, victim;

static int cart(MPI_Comm comm, MPI_Comm *out)
{
    int dims[2] = {2, size / 2}, periods[2] = {1, 0};

    return MPI_Cart_create(comm, 2, dims, periods, 1, out);
}

/* A ring, as one graph on every rank. */
static int graph(MPI_Comm comm, MPI_Comm *out)
{
    int index[64], edges[128];

    for (int r = 0; r < size; r++) {
        index[r] = 2 * (r + 1);
        edges[2 * r] = (r + 1) % size;
        edges[2 * r + 1] = (r + size - 1) % size;
    }
    return MPI_Graph_create(comm, size, index, edges, 1, out);
}

static int dist(MPI_Comm comm, MPI_Comm *out)
{
    int degree = 2, to[2] = {(rank + 1) % size, (rank + 2) % size};

    return MPI_Dist_graph_create(comm, 1, &rank, &degree, to, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 1, out);
}

static int adjacent(MPI_Comm comm, MPI_Comm *out)
{
    int to[2] = {(rank + 1) % size, (rank + 2) % size};
    int from[2] = {(rank + size - 1) % size, (rank + size - 2) % size};

    return MPI_Dist_graph_create_adjacent(comm, 2, from, MPI_UNWEIGHTED, 2, to,
                                          MPI_UNWEIGHTED, MPI_INFO_NULL, 1,
                                          out);
}

static const struct {
    const char *name;
    int (*make)(MPI_Comm comm, MPI_Comm *out);
} calls[] = {
    {"cart", cart}, {"graph", graph}, {"dist", dist}, {"adjacent", adjacent}};

/* Returns 1 if an allocation failed in the call, otherwise 0. */
static int try(int call, int before)
{
    MPI_Comm comm, made = MPI_COMM_NULL;
    int rc, failed, one = 1, sum = 0;

    /* a new communicator, whose members are not known yet */
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    short_memory = rank == victim ? before : SHORT_MEMORY_OFF;
    alarm(30);
    rc = calls[call].make(comm, &made);
    failed = rank == victim && short_memory == SHORT_MEMORY_OFF;
    short_memory = SHORT_MEMORY_OFF;
    if (!rc && made != MPI_COMM_NULL)
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, made);
    if (sum != size) {
        fprintf(stderr, "%s, allocation %d: rank %d got %d\n", calls[call].name,
                before, rank, rc);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    alarm(0);
    MPI_Comm_free(&made);
    MPI_Comm_free(&comm);
    MPI_Bcast(&failed, 1, MPI_INT, victim, MPI_COMM_WORLD);
    return failed;
}

/* The rank as the launcher gives it, before MPI_Init. */
static int launched_rank(void)
{
    const char *words = getenv("OMPI_COMM_WORLD_RANK");

    if (!words)
        words = getenv("PMI_RANK");
    return words ? atoi(words) : -1;
}

/* Returns 1 if the allocation failed in MPI_Init, otherwise 0. */
static int init(int argc, char **argv)
{
    int failed;

    victim = atoi(argv[1]);
    if (argc > 3 && launched_rank() == victim)
        short_memory = atoi(argv[3]);
    alarm(30);
    MPI_Init(&argc, &argv);
    failed = short_memory == SHORT_MEMORY_OFF;
    short_memory = SHORT_MEMORY_OFF;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Bcast(&failed, 1, MPI_INT, victim, MPI_COMM_WORLD);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = init(argc, argv);

    for (int call = 0; argc > 3 && call < 4; call++)
        try(call, 1000000);
    if (argc > 3) {
        if (!rank)
            printf("failed: %d\n", failed);
        MPI_Finalize();
        return 0;
    }
    for (int call = 0; call < (int)(sizeof calls / sizeof *calls); call++) {
        int before = 0;

        while (before < atoi(argv[2]) && try(call, before))
            before++;
        if (!rank)
            printf("%s: %d\n", calls[call].name, before);
    }
    MPI_Finalize();
    return 0;
}

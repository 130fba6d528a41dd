/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets each allocation of Nodewise fail in turn, on one rank only, in each of
 * the six collective calls that the channel can make, on buffers with gaps in
 * GPU memory. First the call opens the channel of a new communicator, later the
 * channel is open. An alarm ends ranks that wait forever. A rank without memory
 * may return an error, and so may a rank that needs its data; on all others the
 * result must be right. Afterwards the next call must succeed on all ranks.
 * Usage: exhausted VICTIM. Prints how many allocations failed in each call. */
#include "driver.h"
#include "support/short_memory.h"

#include <stdlib.h>
#include <unistd.h>

enum { GAP = 77 };

static int rank, size, words;
static uint64_t gpu[2];
static int *host;
static MPI_Datatype spread; /* an int and a gap of the same size */

static int word(int from, int to, int i)
{
    return (from + 1) * 1000 + (to + 1) * 100 + i % 100;
}

/* Fills one of the two buffers in GPU memory with blocks for all ranks. */
static void fill(uint64_t memory, int gaps_only)
{
    for (int b = 0; b < size; b++)
        for (int i = 0; i < words; i++) {
            host[2 * (b * words + i)] = gaps_only ? 0 : word(rank, b, i);
            host[2 * (b * words + i) + 1] = GAP;
        }
    need(cuda.in(memory, host, (size_t)size * (size_t)words * 8), "copy in");
}

/* Returns 1 if block b is not the one from `from` to `to`, or if it is not the
 * sum over all ranks if `from` is -1. */
static int is_wrong(int b, int from, int to)
{
    for (int i = 0; i < words; i++) {
        int expected = from < 0 ? 0 : word(from, to, i);

        for (int r = 0; from < 0 && r < size; r++)
            expected += word(r, to, i);
        if (host[2 * (b * words + i)] != expected ||
            host[2 * (b * words + i) + 1] != GAP)
            return 1;
    }
    return 0;
}

static int all_wrong(int to_all)
{
    int wrong = 0;

    for (int b = 0; b < size; b++)
        wrong |= is_wrong(b, b, to_all ? rank : 0);
    return wrong;
}

/* Makes a collective call, and sets *wrong to 1 if its result is wrong. */
static int make(int which, MPI_Comm comm, int *wrong)
{
    void *from = (void *)gpu[0], *into = (void *)gpu[1];
    int rc;

    fill(gpu[0], 0);
    fill(gpu[1], which != 0 || rank);
    if (which == 0)
        rc = MPI_Bcast(into, words, spread, 0, comm);
    else if (which == 1)
        rc = MPI_Gather(from, words, spread, into, words, spread, 0, comm);
    else if (which == 2)
        rc = MPI_Allgather(from, words, spread, into, words, spread, comm);
    else if (which == 3)
        rc = MPI_Alltoall(from, words, spread, into, words, spread, comm);
    else if (which == 4)
        rc = MPI_Reduce(from, into, 2 * words, MPI_INT, MPI_SUM, 0, comm);
    else
        rc = MPI_Allreduce(from, into, 2 * words, MPI_INT, MPI_SUM, comm);
    need(cuda.out(host, gpu[1], (size_t)size * (size_t)words * 8), "copy out");
    for (int i = 0; which > 3 && i < words; i++)
        host[2 * i + 1] /= size;
    *wrong = which == 0   ? is_wrong(0, 0, 0)
             : which == 1 ? !rank && all_wrong(0)
             : which == 2 ? all_wrong(0)
             : which == 3 ? all_wrong(1)
             : which == 4 ? !rank && is_wrong(0, -1, 0)
                          : is_wrong(0, -1, 0);
    return rc;
}

/* Returns 1 if an allocation failed in the call, otherwise 0. */
static int try(int which, int before, int victim, int opened)
{
    MPI_Comm comm;
    int rc, failed, wrong;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    alarm(60);
    if (opened && (make(which, comm, &wrong) || wrong))
        MPI_Abort(MPI_COMM_WORLD, 3);
    short_memory = rank == victim ? before : SHORT_MEMORY_OFF;
    rc = make(which, comm, &wrong);
    failed = rank == victim && short_memory == SHORT_MEMORY_OFF;
    short_memory = SHORT_MEMORY_OFF;
    if (!rc && wrong) {
        fprintf(stderr,
                "call %d, allocation %d%s: rank %d has a wrong result\n", which,
                before, opened ? ", open" : "", rank);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (make(which, comm, &wrong) || wrong) {
        fprintf(stderr, "call %d after allocation %d%s: rank %d fails\n", which,
                before, opened ? ", open" : "", rank);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    alarm(0);
    MPI_Comm_free(&comm);
    MPI_Bcast(&failed, 1, MPI_INT, victim, MPI_COMM_WORLD);
    return failed;
}

int main(int argc, char **argv)
{
    int victim = argc > 1 ? atoi(argv[1]) : 0;
    size_t bytes;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* above the size of messages that need no answer of their receiver */
    words = 20000;
    bytes = (size_t)size * (size_t)words * 2 * sizeof(int);
    host = malloc(bytes);
    open_driver();
    for (int i = 0; i < 2; i++)
        need(cuda.alloc(&gpu[i], bytes), "cuMemAlloc");
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &spread);
    MPI_Type_commit(&spread);
    for (int opened = 0; opened < 2; opened++)
        for (int which = 0; which < 6; which++) {
            int before = 0;

            while (try(which, before, victim, opened))
                before++;
            if (!rank)
                printf("%d: %d\n", which, before);
        }
    MPI_Type_free(&spread);
    MPI_Finalize();
    return 0;
}

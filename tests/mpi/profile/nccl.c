/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that communicates by NCCL and computes by formulas of its own what
 * the ring and the double tree make each rank send. The ranks of its
 * communicator are those of MPI_COMM_WORLD in reverse. Prints `src dst gg bytes
 * messages`. With a number n as argument, the allocation with index n that
 * Nodewise makes in MPI_Finalize on the last rank fails; all ranks must return
 * from MPI_Finalize nevertheless. With "init" behind n, it fails in MPI_Init on
 * rank 1 instead. */
#include "support/short_memory.h"

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct ncclComm *comm_t;
typedef struct {
    char internal[128];
} nccl_id;
int ncclGetUniqueId(nccl_id *id);
int ncclCommInitRank(comm_t *comm, int size, nccl_id id, int rank);
int ncclCommSplit(comm_t comm, int color, int key, comm_t *out, void *config);
int ncclCommDestroy(comm_t comm);
int ncclAllReduce(const void *from, void *to, size_t n, int type, int op,
                  comm_t comm, void *stream);
int ncclReduce(const void *from, void *to, size_t n, int type, int op, int root,
               comm_t comm, void *stream);
int ncclBcast(void *data, size_t n, int type, int root, comm_t comm,
              void *stream);
int ncclAllGather(const void *from, void *to, size_t n, int type, comm_t comm,
                  void *stream);
int ncclReduceScatter(const void *from, void *to, size_t n, int type, int op,
                      comm_t comm, void *stream);
int ncclSend(const void *from, size_t n, int type, int peer, comm_t comm,
             void *stream);
int ncclRecv(void *to, size_t n, int type, int peer, comm_t comm, void *stream);

enum { FLOAT = 7, DOUBLE = 8, SUM = 0 };
#define MANY                                                                   \
    1200000      /* number of doubles, for which a ring is used;               \
                    divisible by 2 to 6 ranks */
#define FEW 1000 /* floats: trees */

static int world, size;
static long long (*want)[2];

static void expect(int to, long long bytes, long long messages)
{
    want[to][0] += bytes;
    want[to][1] += messages;
}

/* Rank r of the communicator is this rank of the world. */
static int who(int r)
{
    return size - 1 - r;
}

/* Edges of the two trees, determined by hand for 4 ranks: 0-2, 2-1, 2-3, and
 * the same mirrored. */
static const int tree4[2][3][2] = {{{0, 2}, {2, 1}, {2, 3}},
                                   {{3, 1}, {1, 2}, {1, 0}}};

static void expect_tree(int me)
{
    for (int t = 0; t < 2; t++)
        for (int e = 0; e < 3; e++)
            for (int way = 0; way < 2; way++)
                if (tree4[t][e][way] == me)
                    expect(who(tree4[t][e][!way]), FEW * 4 / 2, 1);
}

/* Returns true on rank 1, by the variables of the launcher. */
static int is_second(void)
{
    const char *words = getenv("OMPI_COMM_WORLD_RANK");

    if (!words)
        words = getenv("PMI_RANK");
    return words && !strcmp(words, "1");
}

int main(int argc, char **argv)
{
    comm_t comm, half;
    nccl_id id;
    int me, next, split;
    char *data;

    if (argc > 2) {
        alarm(60);
        if (is_second())
            short_memory = atoi(argv[1]);
    }
    MPI_Init(&argc, &argv);
    short_memory = SHORT_MEMORY_OFF;
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    want = calloc((size_t)size, sizeof *want);
    data = calloc(1, 64);
    ncclGetUniqueId(&id);
    me = who(world);
    next = (me + 1) % size;
    ncclCommInitRank(&comm, size, id, me);

    ncclAllReduce(data, data, MANY, DOUBLE, SUM, comm, NULL);
    expect(who(next), 2LL * (size - 1) * MANY * 8 / size, 2 * (size - 1));
    ncclAllReduce(data, data, FEW, FLOAT, SUM, comm, NULL);
    expect_tree(me);
    ncclAllGather(data, data, FEW, FLOAT, comm, NULL);
    expect(who(next), (size - 1) * FEW * 4LL, size - 1);
    ncclReduceScatter(data, data, FEW, FLOAT, SUM, comm, NULL);
    expect(who(next), (size - 1) * FEW * 4LL, size - 1);
    ncclBcast(data, FEW, FLOAT, 1, comm, NULL);
    if (next != 1)
        expect(who(next), FEW * 4LL, 1);
    ncclReduce(data, data, FEW, FLOAT, SUM, 1, comm, NULL);
    if (me != 1)
        expect(who(next), FEW * 4LL, 1);
    if (ncclAllReduce(NULL, data, FEW, FLOAT, SUM, comm, NULL) == 0)
        return 1; /* the call must fail, and is not counted */

    /* rings of the two halves of the ranks */
    ncclCommSplit(comm, me % 2, me, &half, NULL);
    split = (size + 1 - me % 2) / 2;
    ncclAllGather(data, data, 10, DOUBLE, half, NULL);
    if (split > 1)
        expect(who((me / 2 + 1) % split * 2 + me % 2), (split - 1) * 80LL,
               split - 1);

    ncclSend(data, 100, FLOAT, next, comm, NULL);
    ncclRecv(data, 100, FLOAT, (me + size - 1) % size, comm, NULL);
    expect(who(next), 400, 1);
    MPI_Pcontrol(0);
    ncclSend(data, 100, FLOAT, next, comm, NULL);
    MPI_Pcontrol(1);

    ncclCommDestroy(half);
    ncclCommDestroy(comm);
    for (int r = 0; r < size; r++) {
        for (int to = 0; world == r && to < size; to++)
            if (want[to][1])
                printf("%d %d gg %lld %lld\n", world, to, want[to][0],
                       want[to][1]);
        fflush(stdout);
    }
    free(want);
    free(data);
    if (argc == 2) {
        alarm(60);
        if (world == size - 1)
            short_memory = atoi(argv[1]);
    }
    MPI_Finalize();
    return 0;
}

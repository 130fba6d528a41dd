/* SPDX-License-Identifier: BSD-3-Clause */
/* Ping-pong in GPU memory between two ranks. A message is WORDS words, or a
 * vector of WORDS words with the stride STEP. The program checks every word,
 * also those in the gaps. It prints what rank 0 requested of the test double of
 * the driver in 15 turns, after the method of the messages was chosen: "copies
 * N stores N loads N kernels N reads N". The reads are made by the adapter.
 * Usage: passed WORDS [STEP | all | most] [behind]. The arguments:
 * - all: broadcasts by either rank replace the messages.
 * - most: reductions to the larger of both ranks' words, which are equal,
 *   replace the messages.
 * - behind: other memory is allocated before. */
#include "driver.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 18, WARM = 32, TURNS = 15, KINDS = 5 };
static const char *const kinds[KINDS] = {"copy", "store", "load", "kernel",
                                         "adapter-read"};

static uint64_t gpu_memory(void)
{
    uint64_t memory = 0;

    open_driver();
    need(!cuda.uses || cuda.alloc(&memory, ROOM * sizeof(int)), "cuMemAlloc");
    return memory;
}

/* Whether all words are right, and the gaps have the rank's own values as
 * before. */
static int is_right(uint64_t memory, int rank, int step)
{
    static int words[ROOM];
    int right = 1;

    need(cuda.out(words, memory, sizeof words), "cuMemcpyDtoH");
    for (int i = 0; i < ROOM; i++)
        right &= words[i] == i + (step > 1 && i % step ? 1000 * rank : 0);
    return right;
}

static void ping(void *memory, MPI_Datatype type, int rank)
{
    if (!rank)
        MPI_Send(memory, 1, type, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(memory, 1, type, !rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank)
        MPI_Send(memory, 1, type, 0, 1, MPI_COMM_WORLD);
}

static void broadcast(void *memory, MPI_Datatype type, int rank)
{
    (void)rank;
    MPI_Bcast(memory, 1, type, 0, MPI_COMM_WORLD);
    MPI_Bcast(memory, 1, type, 1, MPI_COMM_WORLD);
}

static void reduce(void *memory, MPI_Datatype type, int rank)
{
    int bytes;

    (void)rank;
    MPI_Type_size(type, &bytes);
    MPI_Allreduce(MPI_IN_PLACE, memory, bytes / (int)sizeof(int), MPI_INT,
                  MPI_MAX, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static int words[ROOM];
    unsigned long before[KINDS], after[KINDS];
    int rank, right, all, count, step;
    MPI_Datatype type;
    uint64_t memory, other = 0;
    void (*turn)(void *, MPI_Datatype, int) = ping;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    count = argc > 1 ? atoi(argv[1]) : 0;
    if (argc > 2 && !strcmp(argv[2], "all"))
        turn = broadcast;
    if (argc > 2 && !strcmp(argv[2], "most"))
        turn = reduce;
    step = argc > 2 && turn == ping ? atoi(argv[2]) : 1;
    need(count < 1 || count * step > ROOM,
         "passed WORDS [STEP | all | most] [behind]");
    memory = gpu_memory();
    for (int i = 0; i < ROOM; i++)
        words[i] = i + (step > 1 && i % step ? 1000 * rank : 0);
    need(cuda.in(memory, words, sizeof words), "cuMemcpyHtoD");
    MPI_Type_vector(count, 1, step, MPI_INT, &type);
    MPI_Type_commit(&type);
    if (argc > 3)
        need(cuda.alloc(&other, sizeof words), "cuMemAlloc");
    for (int i = 0; i < WARM && other; i++)
        turn((void *)other, type, rank);
    for (int i = 0; i < WARM; i++)
        turn((void *)memory, type, rank);
    for (int k = 0; k < KINDS; k++)
        before[k] = cuda.uses(kinds[k]);
    for (int i = 0; i < TURNS; i++)
        turn((void *)memory, type, rank);
    for (int k = 0; k < KINDS; k++)
        after[k] = cuda.uses(kinds[k]) - before[k];
    right = is_right(memory, rank, step);
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!rank && all)
        printf("copies %lu stores %lu loads %lu kernels %lu reads %lu\n",
               after[0], after[1], after[2], after[3], after[4]);
    MPI_Type_free(&type);
    MPI_Finalize();
    return !all;
}

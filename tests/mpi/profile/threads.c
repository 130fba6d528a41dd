/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that send at the same time with MPI_THREAD_MULTIPLE, to all ranks and
 * over communicators of their own; threads begin and end meanwhile. Rank 0
 * prints what a profile must contain. */
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define ROUNDS 3
#define MESSAGES 50

static int rank, size;

struct task {
    int number;
    MPI_Comm comm;
};

static void *work(void *context)
{
    const struct task *task = context;
    MPI_Request request;
    int in;

    for (int i = 0; i < MESSAGES; i++)
        for (int far = 1; far < size; far++) {
            MPI_Irecv(&in, 1, MPI_INT, (rank + size - far) % size, task->number,
                      task->comm, &request);
            MPI_Send(&i, 1, MPI_INT, (rank + far) % size, task->number,
                     task->comm);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    return NULL;
}

int main(int argc, char **argv)
{
    struct task task[THREADS];
    pthread_t thread[THREADS];
    int level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (level < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 77);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < THREADS; i++) {
            task[i].number = i;
            if (i % 2)
                MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &task[i].comm);
            else
                MPI_Comm_dup(MPI_COMM_WORLD, &task[i].comm);
        }
        for (int i = 0; i < THREADS; i++)
            pthread_create(&thread[i], NULL, work, &task[i]);
        for (int i = 0; i < THREADS; i++)
            pthread_join(thread[i], NULL);
        for (int i = 0; i < THREADS; i++)
            MPI_Comm_free(&task[i].comm);
    }
    for (int i = 0; !rank && i < size * size; i++)
        if (i / size != i % size)
            printf("%d %d hh %d %d\n", i / size, i % size,
                   4 * THREADS * ROUNDS * MESSAGES,
                   THREADS * ROUNDS * MESSAGES);
    MPI_Finalize();
    return 0;
}

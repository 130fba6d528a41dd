/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests messages between two ranks of programs that use GPUs in unusual ways:
 * - the GPU is reset before MPI_Finalize, and between messages;
 * - memory is in a context that the program made;
 * - a thread without a context sends;
 * - memory comes from a pool, or is mapped piece by piece;
 * - the program sends the result of work in the default stream without waiting
 *   for that work.
 * The messages are dense or strided. Usage: hazards
 * reset|context|thread|pool|pieces|stream */
#include "driver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 12, STEP = 3, COUNT = 3000, ROOM = STEP * COUNT };
enum { BYTES = 196608 }; /* at least ROOM ints, in whole pieces */

static int rank;
static MPI_Datatype strided;
static int host[ROOM];

static void *entry(const char *name)
{
    void *found = dlsym(dlopen("libcuda.so.1", RTLD_NOW), name);

    need(!found, name);
    return found;
}

static uint64_t memory(void)
{
    uint64_t made = 0;

    need(cuda.alloc(&made, BYTES), "cuMemAlloc");
    return made;
}

static uint64_t pool_memory(void)
{
    int (*alloc)(uint64_t *, size_t, void *);
    uint64_t made = 0;

    *(void **)&alloc = entry("cuMemAllocAsync");
    need(alloc(&made, BYTES, NULL), "cuMemAllocAsync");
    return made;
}

static uint64_t pieces_memory(void)
{
    int (*reserve)(uint64_t *, size_t, size_t, uint64_t, unsigned long long);
    int (*create)(void **, size_t, const void *, unsigned long long);
    int (*map)(uint64_t, size_t, size_t, void *, unsigned long long);
    const int properties[8] = {1, 0, 1, 0};
    uint64_t start = 0;
    size_t piece = 65536;
    void *physical;

    *(void **)&reserve = entry("cuMemAddressReserve");
    *(void **)&create = entry("cuMemCreate");
    *(void **)&map = entry("cuMemMap");
    need(reserve(&start, BYTES, 0, 0, 0), "cuMemAddressReserve");
    for (size_t at = 0; at < BYTES; at += piece)
        need(create(&physical, piece, properties, 0) ||
                 map(start + at, piece, 0, physical, 0),
             "cuMemMap");
    return start;
}

static int word_of(int round, int i)
{
    return round << 20 | i;
}

static int is_sent(int i, int step)
{
    return i % step == 0 && i / step < COUNT;
}

/* Sends a dense message in even rounds, a strided one in odd ones. */
static void send_round(uint64_t at, int round)
{
    void *buffer = (void *)(uintptr_t)at;

    MPI_Send(buffer, round % 2 ? 1 : COUNT, round % 2 ? strided : MPI_INT, 1,
             round, MPI_COMM_WORLD);
}

static void receive_round(uint64_t at, int round)
{
    void *buffer = (void *)(uintptr_t)at;
    int wrong = 0;

    memset(host, -1, sizeof host);
    need(cuda.in(at, host, sizeof host), "cuMemcpyHtoD");
    MPI_Recv(buffer, round % 2 ? 1 : COUNT, round % 2 ? strided : MPI_INT, 0,
             round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    need(cuda.out(host, at, sizeof host), "cuMemcpyDtoH");
    for (int i = 0; i < ROOM; i++)
        wrong += host[i] !=
                 (is_sent(i, round % 2 ? STEP : 1) ? word_of(round, i) : -1);
    need(wrong, "a message");
}

static void exchange(uint64_t at)
{
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < ROOM; i++)
            host[i] = word_of(round, i);
        if (!rank)
            need(cuda.in(at, host, sizeof host), "cuMemcpyHtoD");
        if (!rank)
            send_round(at, round);
        else
            receive_round(at, round);
    }
}

/* The default stream orders the copies of messages behind the work that it
 * already has. */
static void exchange_unwaited(uint64_t at)
{
    int (*fill)(uint64_t, unsigned char, size_t, void *);
    int wrong = 0;

    *(void **)&fill = entry("cuMemsetD8Async");
    for (int round = 0; round < 4 * ROUNDS; round++) {
        if (!rank)
            need(fill(at, (unsigned char)round, sizeof host, NULL), "cuMemset");
        if (!rank)
            send_round(at, round);
        else
            MPI_Recv((void *)(uintptr_t)at, round % 2 ? 1 : COUNT,
                     round % 2 ? strided : MPI_INT, 0, round, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (!rank)
            continue;
        need(cuda.out(host, at, sizeof host), "cuMemcpyDtoH");
        for (int i = 0; i < COUNT; i++)
            wrong += host[i * (round % 2 ? STEP : 1)] != round * 0x01010101;
    }
    need(wrong, "a message behind the default stream");
}

static void *in_thread(void *at)
{
    exchange(*(uint64_t *)at);
    return NULL;
}

static void with_reset(void)
{
    int (*reset)(int), (*retain)(void **, int), (*set)(void *);
    void *context;

    *(void **)&reset = entry("cuDevicePrimaryCtxReset_v2");
    *(void **)&retain = entry("cuDevicePrimaryCtxRetain");
    *(void **)&set = entry("cuCtxSetCurrent");
    for (int i = 0; i < 2; i++) {
        exchange(memory());
        MPI_Barrier(MPI_COMM_WORLD);
        /* first only the receiver's, which may have mapped memory of the
         * sender */
        need((i || rank) && (reset(0) || retain(&context, 0) || set(context)),
             "a reset");
    }
    exchange(memory());
    MPI_Barrier(MPI_COMM_WORLD);
    need(reset(0), "a reset");
}

static void with_context(void)
{
    int (*create)(void **, unsigned, int);
    uint64_t ours = memory();
    void *context;

    *(void **)&create = entry("cuCtxCreate_v2");
    exchange(ours);
    need(create(&context, 0, 0), "cuCtxCreate");
    exchange(memory());
    exchange(ours);
}

static void with_thread(void)
{
    uint64_t at = memory();
    pthread_t thread;

    need(pthread_create(&thread, NULL, in_thread, &at), "pthread_create");
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(COUNT, 1, STEP, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    open_driver();
    if (!strcmp(what, "reset"))
        with_reset();
    else if (!strcmp(what, "context"))
        with_context();
    else if (!strcmp(what, "thread"))
        with_thread();
    else if (!strcmp(what, "stream"))
        exchange_unwaited(memory());
    else
        exchange(!strcmp(what, "pool") ? pool_memory() : pieces_memory());
    MPI_Type_free(&strided);
    MPI_Finalize();
    if (rank)
        printf("%s: right\n", what);
    return 0;
}

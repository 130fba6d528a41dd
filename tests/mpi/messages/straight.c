/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks exchange GPU memory, other words each turn, each word and all gaps
 * checked. Prints what the messages of rank 0 asked of the double of the driver
 * in 15 turns, once the pools are mapped: "copies N kernels N over N", the
 * first with the host, the last between GPUs.
 *
 *     straight plain|persistent|replace|both|failing|stray STEP [apart]
 *
 * failing: MPI starts some more sends, which all fail. stray: one more is never
 * received.
 * With apart each rank has a GPU of its own.
 */
#include "driver.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 3000, MOST_STEP = 4, WARM = 3, TURNS = 15, KINDS = 3, TAG = 4 };
enum { ROOM = WORDS * MOST_STEP, FAILURES = 8 };
static const char *const kinds[KINDS] = {"copy", "kernel", "device"};

static int rank, step, words[ROOM];
static uint64_t out, in;
static MPI_Datatype type;
static MPI_Request both[2]; /* persistent: receive, send */

static int word_of(int from, int turn, int i)
{
    return i % step ? -7 : 1000000 * (from + 1) + 5000 * turn + i / step;
}

static void fill(uint64_t memory, int turn)
{
    for (int i = 0; i < ROOM; i++)
        words[i] = i < WORDS * step ? word_of(rank, turn, i) : -9;
    need(cuda.in(memory, words, sizeof words), "cuMemcpyHtoD");
}

static int is_right(uint64_t memory, int turn)
{
    int right = 1;

    need(cuda.out(words, memory, sizeof words), "cuMemcpyDtoH");
    for (int i = 0; i < ROOM; i++)
        right &= words[i] == (i < WORDS * step ? word_of(!rank, turn, i) : -9);
    return right;
}

static void plain(MPI_Status *status)
{
    MPI_Request request;

    MPI_Isend((void *)out, 1, type, !rank, TAG, MPI_COMM_WORLD, &request);
    MPI_Recv((void *)in, 1, type, !rank, TAG, MPI_COMM_WORLD, status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void persistent(MPI_Status *status)
{
    MPI_Status two[2];

    if (both[0] == MPI_REQUEST_NULL) {
        MPI_Recv_init((void *)in, 1, type, !rank, TAG, MPI_COMM_WORLD,
                      &both[0]);
        MPI_Send_init((void *)out, 1, type, !rank, TAG, MPI_COMM_WORLD,
                      &both[1]);
    }
    MPI_Startall(2, both);
    MPI_Waitall(2, both, two);
    *status = two[0];
}

static void replace(MPI_Status *status)
{
    MPI_Sendrecv_replace((void *)out, 1, type, !rank, TAG, !rank, TAG,
                         MPI_COMM_WORLD, status);
}

static void replace_both(MPI_Status *status)
{
#if MPI_VERSION >= 4
    MPI_Request request;

    MPI_Isendrecv_replace((void *)out, 1, type, !rank, TAG, !rank, TAG,
                          MPI_COMM_WORLD, &request);
    MPI_Wait(&request, status);
#else
    replace(status);
#endif
}

/* A buffered send finds no room: more often than there are slots. */
static void failing(MPI_Status *status)
{
    MPI_Request never;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Bsend_init((void *)out, 1, type, !rank, TAG, MPI_COMM_WORLD, &never);
    for (int i = 0; i < FAILURES; i++)
        need(!(i % 2 ? MPI_Start(&never) : MPI_Startall(1, &never)),
             "what was to fail");
    MPI_Request_free(&never);
    persistent(status);
}

static void stray(MPI_Status *status)
{
    static MPI_Request lost = MPI_REQUEST_NULL;
    static int turn;

    if (lost == MPI_REQUEST_NULL)
        MPI_Send_init((void *)out, 1, type, !rank, TAG + 1, MPI_COMM_WORLD,
                      &lost);
    MPI_Start(&lost);
    if (++turn % 2)
        MPI_Cancel(&lost);
    MPI_Wait(&lost, MPI_STATUS_IGNORE);
    persistent(status);
    if (turn == WARM + TURNS) {
        MPI_Start(&lost);
        MPI_Request_free(&lost);
    }
}

static const struct {
    const char *name;
    void (*exchange)(MPI_Status *status);
} ways[] = {{"plain", plain},     {"persistent", persistent},
            {"replace", replace}, {"both", replace_both},
            {"failing", failing}, {"stray", stray}};
enum { WAYS = sizeof ways / sizeof *ways };

/* Adds what it asked for; whether all came. */
static int play(int way, int turn, unsigned long asked[KINDS])
{
    int replaces = way == 2 || way == 3;
    uint64_t memory = replaces ? out : in;
    unsigned long before[KINDS];
    MPI_Status status;
    int bytes = 0;

    fill(in, -1);
    fill(out, turn);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < KINDS; k++)
        before[k] = cuda.uses(kinds[k]);
    ways[way].exchange(&status);
    for (int k = 0; k < KINDS && turn >= WARM; k++)
        asked[k] += cuda.uses(kinds[k]) - before[k];
    MPI_Get_elements(&status, MPI_BYTE, &bytes);
    return is_right(memory, turn) && bytes == 4 * WORDS &&
           status.MPI_SOURCE == !rank && status.MPI_TAG == TAG;
}

static void take_own_gpu(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context;
    int (*retain)(void **, int), (*set)(void *);

    *(void **)&retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
    *(void **)&set = dlsym(driver, "cuCtxSetCurrent");
    need(retain(&context, rank) || set(context), "the rank's own GPU");
}

int main(int argc, char **argv)
{
    unsigned long asked[KINDS] = {0};
    int way = 0, right = 1, all = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    both[0] = both[1] = MPI_REQUEST_NULL;
    while (way < WAYS && argc > 1 && strcmp(argv[1], ways[way].name))
        way++;
    step = argc > 2 ? atoi(argv[2]) : 0;
    need(way == WAYS || step < 1 || step > MOST_STEP,
         "straight plain|persistent|replace|both|failing|stray STEP [apart]");
    open_driver();
    if (argc > 3)
        take_own_gpu();
    need(!cuda.uses, "the double of the driver");
    need(cuda.alloc(&out, sizeof words) || cuda.alloc(&in, sizeof words),
         "cuMemAlloc");
    MPI_Type_vector(WORDS, 1, step, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int turn = 0; turn < WARM + TURNS; turn++)
        right &= play(way, turn, asked);
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++)
        if (both[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&both[i]);
    if (!rank && all)
        printf("copies %lu kernels %lu over %lu\n", asked[0], asked[1],
               asked[2]);
    MPI_Type_free(&type);
    MPI_Finalize();
    return !all;
}

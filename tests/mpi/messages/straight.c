/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks exchange GPU memory with other words in each turn, and check each
 * word and all gaps. The program prints what the messages of rank 0 requested
 * of the test double of the driver in 15 turns, once the pools are mapped:
 * "copies N kernels N over N". The first number counts copies from or to the
 * host, the last one copies between GPUs.
 *
 *     straight WAY STEP [apart]
 *
 * WAY is one of the following; with apart, each rank has a GPU of its own.
 *   plain, persistent, replace, both: the calls that exchange the words.
 *   failing: additional sends fail when the program starts them.
 *   broken: MPI returns an error for the end of additional sends (faulty.c).
 *     After the last turn, the receives of these sends also return an error.
 *   stuck: MPI returns an error from a call whose messages arrive nevertheless
 *     (faulty.c).
 *   large: a message of 256 KiB is sent before.
 *   stray: in each turn, an additional send has no receive.
 *   freed: additional messages are too long for their receives, and their
 *     communicator is freed before they end.
 */
#include "driver.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 3000, MOST_STEP = 4, WARM = 3, TURNS = 15, KINDS = 3, TAG = 4 };
enum {
    ROOM = WORDS * MOST_STEP,
    FAILURES = 8,
    LOST = 11,
    OTHERS = 4,
    LARGE = 1 << 18
};
static const char *const kinds[KINDS] = {"copy", "kernel", "device"};

static int rank, step, words[ROOM];
static uint64_t out, in;
static MPI_Datatype type;
static MPI_Request both[2]; /* for "persistent": receive, send */

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

/* Buffered sends fail because no buffer is attached. More sends fail than there
 * are slots, so that a failed send must free its slot. */
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

/* -- sends that end in an error -- */

static void wait_one(void)
{
    MPI_Request lost;

    MPI_Isend((void *)out, 1, type, !rank, TAG + 1, MPI_COMM_WORLD, &lost);
    need(!MPI_Wait(&lost, MPI_STATUS_IGNORE), "MPI_Wait that was to fail");
}

static void test_one(void)
{
    int flag = 0, rc = MPI_SUCCESS;
    MPI_Request lost;

    MPI_Isend((void *)out, 1, type, !rank, TAG + 1, MPI_COMM_WORLD, &lost);
    while (!rc && !flag)
        rc = MPI_Test(&lost, &flag, MPI_STATUS_IGNORE);
    need(!rc, "MPI_Test that was to fail");
}

static void wait_two(void)
{
    MPI_Status status[2];
    MPI_Request lost[2];
    int rc;

    for (int i = 0; i < 2; i++)
        MPI_Isend((void *)out, 1, type, !rank, TAG + 1, MPI_COMM_WORLD,
                  &lost[i]);
    rc = MPI_Waitall(2, lost, status);
    need(rc != MPI_ERR_IN_STATUS, "MPI_Waitall that was to fail");
}

static void wait_any(void)
{
    MPI_Request lost[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int index = -1;

    MPI_Isend((void *)out, 1, type, !rank, TAG + 1, MPI_COMM_WORLD, &lost[1]);
    need(!MPI_Waitany(2, lost, &index, MPI_STATUS_IGNORE) || index != 1,
         "MPI_Waitany that was to fail");
}

static void wait_some(void)
{
    MPI_Request lost[2];
    MPI_Status status[2];
    int indices[2], done = 0;

    for (int i = 0; i < 2; i++)
        MPI_Isend((void *)out, 1, type, !rank, TAG + 1, MPI_COMM_WORLD,
                  &lost[i]);
    while (lost[0] != MPI_REQUEST_NULL || lost[1] != MPI_REQUEST_NULL)
        need(MPI_Waitsome(2, lost, &done, indices, status) != MPI_ERR_IN_STATUS,
             "MPI_Waitsome that was to fail");
}

/* Waits twice, if MPI leaves the request there after the error. */
static void wait_again(void)
{
    MPI_Request lost = MPI_REQUEST_NULL;

    for (int i = 0; i < 2; i++) {
        if (lost == MPI_REQUEST_NULL)
            MPI_Send_init((void *)out, 1, type, !rank, TAG + 1, MPI_COMM_WORLD,
                          &lost);
        MPI_Start(&lost);
        need(!MPI_Wait(&lost, MPI_STATUS_IGNORE), "MPI_Wait that was to fail");
    }
    if (lost != MPI_REQUEST_NULL)
        MPI_Request_free(&lost);
}

/* Frees a request, whose end the next call must notice. */
static void free_one(void)
{
    MPI_Request lost;

    MPI_Isend((void *)out, 1, type, !rank, TAG + 1, MPI_COMM_WORLD, &lost);
    MPI_Request_free(&lost);
    wait_one();
}

/* If MPI frees the request, a later receive gets its handle. */
static void receive_one(void)
{
    MPI_Request lost;

    MPI_Recv_init((void *)in, 1, type, !rank, TAG + 2, MPI_COMM_WORLD, &lost);
    MPI_Start(&lost);
    MPI_Send(&rank, 1, MPI_INT, !rank, TAG + 2, MPI_COMM_WORLD);
    need(!MPI_Wait(&lost, MPI_STATUS_IGNORE), "MPI_Wait that was to fail");
    if (lost != MPI_REQUEST_NULL)
        MPI_Request_free(&lost);
}

/* Receives the messages whose payloads no longer exist. */
static void receive_lost(void)
{
    for (int i = 0; i < LOST * TURNS; i++)
        need(!MPI_Recv((void *)in, 1, type, !rank, TAG + 1, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE),
             "a receive that was to fail");
}

static void receive_others(void)
{
    MPI_Request request[OTHERS];
    int word = 0;

    for (int i = 0; i < OTHERS; i++)
        MPI_Irecv((void *)out, 1, MPI_INT, !rank, TAG + 3, MPI_COMM_WORLD,
                  &request[i]);
    for (int i = 0; i < OTHERS; i++) {
        MPI_Send(&i, 1, MPI_INT, !rank, TAG + 3, MPI_COMM_WORLD);
        MPI_Wait(&request[i], MPI_STATUS_IGNORE);
        need(cuda.out(&word, out, sizeof word) || word != i,
             "a receive behind those that were to");
    }
}

/* Sends that fail begin only when the pools are mapped: before, a staged send
 * would wait for its receiver. */
static void broken(MPI_Status *status)
{
    int *ends = dlsym(RTLD_DEFAULT, "faulty_ends");
    static int turn;

    need(!ends, "finding the double of MPI");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (turn++ >= WARM) {
        alarm(300); // without a free slot, the sends wait for a receiver
        *ends = 1;
        wait_one();
        test_one();
        wait_two();
        wait_any();
        wait_some();
        wait_again();
        free_one();
        receive_one();
        *ends = 0;
    }
    plain(status);
    if (turn < WARM + TURNS)
        return;
    receive_others();
    receive_lost();
}

/* Runs only in turns that are not counted. */
static void stuck(MPI_Status *status)
{
    int *ends = dlsym(RTLD_DEFAULT, "faulty_ends"), word = rank;
    static uint64_t lost;
    static int turn;

    need(!ends, "finding the double of MPI");
    if (turn == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        need(cuda.alloc(&lost, sizeof word) ||
                 cuda.in(lost, &word, sizeof word),
             "GPU memory");
        *ends = 2;
        need(!MPI_Sendrecv_replace((void *)lost, 1, MPI_INT, !rank, TAG + 5,
                                   !rank, TAG + 5, MPI_COMM_WORLD, status),
             "an exchange that was to fail");
        *ends = 0;
    }
    for (int i = 0; i < 20 && turn < WARM - 1; i++)
        plain(status);
    plain(status);
    if (turn++ == WARM - 1)
        need(cuda.out(&word, lost, sizeof word) || word != !rank,
             "what was exchanged");
}

static void large(MPI_Status *status)
{
    static uint64_t memory[2];
    MPI_Request request;

    for (int i = 0; i < 2 && !memory[i]; i++)
        need(cuda.alloc(&memory[i], LARGE), "cuMemAlloc");
    MPI_Isend((void *)memory[0], LARGE, MPI_CHAR, !rank, TAG, MPI_COMM_WORLD,
              &request);
    MPI_Recv((void *)memory[1], LARGE, MPI_CHAR, !rank, TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    plain(status);
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

/* -- a communicator that is freed while its requests are pending -- */

static int heard;

static void hear(MPI_Comm *comm, int *code, ...)
{
    int class = MPI_SUCCESS, same = MPI_UNEQUAL;

    MPI_Error_class(*code, &class);
    MPI_Comm_compare(*comm, MPI_COMM_SELF,
                     &same); // fails unless it is a valid communicator
    heard += class == MPI_ERR_TRUNCATE && same != MPI_UNEQUAL;
}

/* The error is given to a handler that the program has also freed, or returned
 * by the call. */
static void handle(MPI_Comm comm, int turn)
{
    MPI_Errhandler handler;

    if (turn % 2) {
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        return;
    }
    MPI_Comm_create_errhandler(hear, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
}

static void wait_too_short(MPI_Request *request, int turn)
{
    int class = MPI_SUCCESS, before = heard;

    MPI_Error_class(MPI_Wait(request, MPI_STATUS_IGNORE), &class);
    need(class != MPI_ERR_TRUNCATE || heard != before + !(turn % 2),
         "a receive that was to be too short");
}

/* The second receive fails, too, and a persistent one is started after it. */
static void freed(MPI_Status *status)
{
    enum { RECEIVES = 3 };
    MPI_Request short_of[RECEIVES], sends[RECEIVES];
    static int turn;
    MPI_Comm comm;

    if (turn++ >= WARM) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        handle(comm, turn);
        for (int i = 0; i < RECEIVES - 1; i++)
            MPI_Irecv((void *)in, WORDS / 2, MPI_INT, !rank, i, comm,
                      &short_of[i]);
        MPI_Recv_init((void *)in, WORDS / 2, MPI_INT, !rank, 2, comm,
                      &short_of[2]);
        MPI_Request_free(&short_of[1]);
        for (int i = 0; i < RECEIVES; i++)
            MPI_Isend((void *)out, WORDS, MPI_INT, !rank, i, comm, &sends[i]);
        MPI_Comm_free(&comm);
        MPI_Start(&short_of[2]);
        wait_too_short(&short_of[0], turn);
        wait_too_short(&short_of[2], turn);
        MPI_Request_free(&short_of[2]);
        MPI_Waitall(RECEIVES, sends, MPI_STATUSES_IGNORE);
    }
    plain(status);
}

static const struct {
    const char *name;
    void (*exchange)(MPI_Status *status);
} ways[] = {{"plain", plain},     {"persistent", persistent},
            {"replace", replace}, {"both", replace_both},
            {"failing", failing}, {"broken", broken},
            {"stuck", stuck},     {"large", large},
            {"stray", stray},     {"freed", freed}};
enum { WAYS = sizeof ways / sizeof *ways };

/* Adds what the turn requested of the driver; returns whether all words were
 * right. */
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
         "straight plain|persistent|replace|both|failing|broken|stuck|"
         "large|stray|freed STEP [apart]");
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

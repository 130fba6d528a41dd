/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks exchange messages in GPU memory. The program frees the communicator
 * of the messages, and only then the messages fail. The library must call the
 * error handler of that communicator for each failure. The program prints
 * "heard N of M": the handler was called for N of M failures.
 *
 *     heirs probed|waited|copied|dropped
 *
 * probed: MPI_Mprobe matches the messages before the communicator is freed. The
 *   later receives are too small for them.
 * waited: one thread waits for a message that is too long, while another thread
 *   frees the communicator.
 * copied: messages come from the host, and their copies to the GPU fail because
 *   the test requests it.
 * dropped: the program has also freed the requests of the receives; the handler
 *   itself sends GPU memory.
 */
#include "driver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 3000, TURNS = 6, TAG = 3, BEFORE_US = 60000, TRIES = 1000 };

static int rank, asked, heard, talks;
static uint64_t out, in;
static MPI_Comm comm;

/* Sends GPU memory to itself by requests of its own, during which requests for
 * which the library waits may end. */
static void talk_to_self(int tag)
{
    MPI_Request both[2];

    MPI_Irecv((void *)in, WORDS, MPI_INT, 0, tag, MPI_COMM_SELF, &both[0]);
    MPI_Isend((void *)out, WORDS, MPI_INT, 0, tag, MPI_COMM_SELF, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
}

static void hear(MPI_Comm *of, int *code, ...)
{
    int class = MPI_SUCCESS, size = 0;

    MPI_Error_class(*code, &class);
    MPI_Comm_size(*of, &size); // fails unless it is a valid communicator
    heard += (class == MPI_ERR_TRUNCATE || class == MPI_ERR_BUFFER) && size;
    if (talks)
        talk_to_self(TAG +
                     1); // the call that called this handler may have used TAG
}

/* Makes the communicator with an error handler, of which the program keeps no
 * handle. */
static void open_comm(void)
{
    MPI_Errhandler handler;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_create_errhandler(hear, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
}

static void send_all(int count, MPI_Request *sends)
{
    for (int i = 0; i < count; i++)
        MPI_Isend((void *)out, WORDS, MPI_INT, 1, TAG, comm, &sends[i]);
}

/* -- messages that were matched before -- */

static void receive_some(MPI_Message *message, int turn)
{
    MPI_Request request;
    int n = WORDS / 2;

    asked++;
    if (turn % 3 == 0) {
        MPI_Comm_free(&comm);
        MPI_Mrecv((void *)in, n, MPI_INT, message, MPI_STATUS_IGNORE);
        return;
    }
    if (turn % 3 == 1)
        MPI_Comm_free(&comm);
    MPI_Imrecv((void *)in, n, MPI_INT, message, &request);
    if (turn % 3 == 2)
        MPI_Comm_free(&comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void probed(int turn)
{
    MPI_Message message;
    MPI_Request send;

    open_comm();
    if (!rank) {
        send_all(1, &send);
        MPI_Comm_free(&comm);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Mprobe(0, TAG, comm, &message, MPI_STATUS_IGNORE);
    receive_some(&message, turn);
}

/* -- one thread waits while another frees the communicator -- */

static void *wait_for(void *context)
{
    MPI_Wait(context, MPI_STATUS_IGNORE);
    return NULL;
}

static void waited(int turn)
{
    MPI_Request one;
    pthread_t thread;

    (void)turn;
    open_comm();
    if (!rank) {
        usleep(2 * BEFORE_US);
        send_all(1, &one);
        MPI_Comm_free(&comm);
        MPI_Wait(&one, MPI_STATUS_IGNORE);
        return;
    }
    asked++;
    MPI_Irecv((void *)in, WORDS / 2, MPI_INT, 0, TAG, comm, &one);
    need(pthread_create(&thread, NULL, wait_for, &one), "pthread_create");
    usleep(BEFORE_US);
    MPI_Comm_free(&comm);
    pthread_join(thread, NULL);
}

/* -- a copy that fails during a test -- */

static void copied(int turn)
{
    static char words[64];
    MPI_Message message;
    MPI_Request request;

    open_comm();
    if (!rank) {
        MPI_Send(words, 64, MPI_CHAR, 1, TAG, comm);
        MPI_Comm_free(&comm);
        return;
    }
    MPI_Mprobe(0, TAG, comm, &message, MPI_STATUS_IGNORE);
    if (turn % 2)
        MPI_Comm_free(&comm);
    asked++;
    if (turn % 4 < 2) {
        MPI_Mrecv((void *)in, 64, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    } else {
        MPI_Imrecv((void *)in, 64, MPI_CHAR, &message, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (!(turn % 2))
        MPI_Comm_free(&comm);
}

/* -- requests that were freed -- */

static void dropped(int turn)
{
    MPI_Request request;

    open_comm();
    talks = 1;
    if (!rank) {
        MPI_Send((void *)out, WORDS, MPI_INT, 1, TAG, comm);
        MPI_Comm_free(&comm);
        return;
    }
    MPI_Irecv((void *)in, WORDS / 2, MPI_INT, 0, TAG, comm, &request);
    MPI_Request_free(&request);
    if (turn % 2)
        MPI_Comm_free(&comm);
    for (int i = 0, before = heard; i < TRIES && heard == before; i++) {
        usleep(BEFORE_US / 10);
        talk_to_self(TAG);
    }
    asked++;
    if (!(turn % 2))
        MPI_Comm_free(&comm);
}

static const struct {
    const char *name;
    void (*turn)(int turn);
} ways[] = {{"probed", probed},
            {"waited", waited},
            {"copied", copied},
            {"dropped", dropped}};
enum { WAYS = sizeof ways / sizeof *ways };

int main(int argc, char **argv)
{
    int way = 0, level;

    MPI_Init_thread(&argc, &argv,
                    argc > 1 && !strcmp(argv[1], "waited") ? MPI_THREAD_MULTIPLE
                                                           : MPI_THREAD_SINGLE,
                    &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    while (way < WAYS && argc > 1 && strcmp(argv[1], ways[way].name))
        way++;
    need(way == WAYS, "heirs probed|waited|copied|dropped");
    open_driver();
    need(cuda.alloc(&out, WORDS * sizeof(int)) ||
             cuda.alloc(&in, WORDS * sizeof(int)),
         "GPU memory");
    for (int i = 0; i < 3 && way != 2; i++) // so that the pools are mapped
        MPI_Sendrecv((void *)out, WORDS, MPI_INT, !rank, TAG, (void *)in, WORDS,
                     MPI_INT, !rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int turn = 0; turn < TURNS; turn++)
        ways[way].turn(turn);
    if (rank)
        printf("heard %d of %d\n", heard, asked);
    MPI_Finalize();
    return heard != asked;
}

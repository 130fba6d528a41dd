/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets each allocation of Nodewise fail in turn, in a receive into GPU memory
 * and in a send from it, each with a request. A call that returns an error has
 * given the program no request to complete, so MPI must not go on with the
 * operation (MPI 4.0, 3.7.2): it may neither write to the buffer of the receive
 * nor read that of the send. So a later receive gets the message of a failed
 * receive, and no message of a failed send arrives. Prints how many allocations
 * failed in each call. */
#include "driver.h"
#include "support/short_memory.h"

#include <stdlib.h>
#include <unistd.h>

enum { WORDS = 64 };

static uint64_t gpu;
static int words[WORDS];

static void wrong(const char *what, int before)
{
    fprintf(stderr, "allocation %d: %s\n", before, what);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

/* Each function returns 1 if an allocation failed in its call, otherwise 0. */
static int receive(int before)
{
    int sent[WORDS] = {before + 1}, got[WORDS] = {0}, failed, rc;
    MPI_Request request;

    short_memory = before;
    rc = MPI_Irecv((void *)gpu, WORDS, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
    failed = short_memory == SHORT_MEMORY_OFF;
    short_memory = SHORT_MEMORY_OFF;
    if (rc)
        MPI_Irecv(got, WORDS, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
    MPI_Send(sent, WORDS, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (!rc)
        need(cuda.out(got, gpu, sizeof got), "cuMemcpyDtoH");
    if (got[0] != before + 1)
        wrong("a receive has other data", before);
    return failed;
}

static int send(int before)
{
    int got[WORDS] = {0}, failed, rc, arrived = 0;
    MPI_Request request;

    words[0] = before + 1;
    need(cuda.in(gpu, words, sizeof words), "cuMemcpyHtoD");
    short_memory = before;
    rc = MPI_Isend((void *)gpu, WORDS, MPI_INT, 0, 2, MPI_COMM_WORLD, &request);
    failed = short_memory == SHORT_MEMORY_OFF;
    short_memory = SHORT_MEMORY_OFF;
    if (rc) {
        for (int i = 0; i < 1000 && !arrived; i++)
            MPI_Iprobe(0, 2, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
        if (arrived)
            wrong("the message of a failed send arrives", before);
        return failed;
    }
    MPI_Recv(got, WORDS, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (got[0] != before + 1)
        wrong("a send has other data", before);
    return failed;
}

int main(int argc, char **argv)
{
    int received = 0, sent = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    open_driver();
    need(cuda.alloc(&gpu, sizeof words), "cuMemAlloc");
    /* a receive that waits for a message which another one got ends here */
    alarm(60);
    /* these calls fill the caches, so that all later ones make the same
     * allocations */
    receive(1000);
    send(1000);
    while (receive(received))
        received++;
    while (send(sent))
        sent++;
    printf("received %d sent %d\n", received, sent);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends large messages between the GPU memories of two processes. The memory is
 * freed and allocated again between messages, so that the driver gives the same
 * addresses to allocations of other sizes. If a mapping of a former allocation
 * is kept, it is stale. Messages are sent by the channel, which opens the
 * receiver's memory in the sender, and by a collective call of MPI.
 *
 *     ipc [TURNS]      (200)
 */
#include "exchange.h"

#include <nodewise/channel.h>

static nw_channel *channel;
static nw_channel_request *request[2];

static void channel_must(nw_status status)
{
    if (!status)
        return;
    printf("FAULT ipc: rank %d: %s\n", hazard.rank, nw_error_text());
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void by_channel(size_t bytes)
{
    struct nw_channel_message out = {(void *)(uintptr_t)exchange_out, bytes,
                                     !hazard.rank, 1};
    struct nw_channel_message in = {(void *)(uintptr_t)exchange_in, bytes,
                                    !hazard.rank, 1};
    bool done[2] = {false, false};

    channel_must(nw_channel_receive(channel, &in, &request[0]));
    channel_must(nw_channel_send(channel, &out, &request[1]));
    while (!done[0] || !done[1])
        for (int i = 0; i < 2; i++)
            if (!done[i])
                channel_must(nw_channel_test(&request[i], &done[i], NULL));
}

static void by_mpi(size_t bytes)
{
    hazard_must(MPI_Sendrecv((void *)(uintptr_t)exchange_out, (int)bytes,
                             MPI_CHAR, !hazard.rank, 1,
                             (void *)(uintptr_t)exchange_in, (int)bytes,
                             MPI_CHAR, !hazard.rank, 1, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE),
                "MPI_Sendrecv");
}

/* One turn, with new buffers of another size, which are freed only when both
 * ranks are done. */
static long one(long turn)
{
    size_t bytes =
        ((size_t)128 << 10) + (size_t)(turn % 7) * 65536 + (size_t)turn;
    long wrong;

    exchange_buffers(hazard_memory(bytes), hazard_memory(bytes));
    exchange_fill(turn, bytes);
    if (turn % 4)
        by_channel(bytes);
    else
        by_mpi(bytes);
    wrong = exchange_wrong(turn, bytes, bytes, bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    hazard_must(hazard.free(exchange_out), "cuMemFree");
    hazard_must(hazard.free(exchange_in), "cuMemFree");
    return wrong;
}

int main(int argc, char **argv)
{
    long turns = argc > 1 ? atol(argv[1]) : 200, wrong = 0;

    hazard_begin("ipc", MPI_THREAD_SINGLE);
    hazard_primary();
    channel_must(nw_channel_open_mpi(MPI_COMM_WORLD, NULL, &channel));
    for (long turn = 0; turn < turns; turn++)
        wrong += one(turn);
    nw_channel_close(channel);
    return hazard_end(wrong);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages from pageable host memory to GPU memory, which a stream of the
 * receiver reads as soon as they are reported as received: if the driver has
 * only begun a copy, bytes are wrong. Messages are sent by MPI and by the
 * channel in turns, without gaps and with other gaps in each turn, so that the
 * tables of the pack kernels are new, too.
 *
 *     pageable [TURNS]      (10000)
 */
#include "exchange.h"

#include <nodewise/channel.h>

enum { PAGEABLE_MOST = 1 << 18 };

static nw_channel *channel;
static char *host, *image;
static void *stream;

static void channel_must(nw_status status)
{
    if (!status)
        return;
    printf("FAULT pageable: rank %d: %s\n", hazard.rank, nw_error_text());
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void by_channel(bool sends, void *memory, size_t bytes)
{
    struct nw_channel_message message = {memory, bytes, !hazard.rank, 1};
    nw_channel_request *request = NULL;

    channel_must(sends ? nw_channel_send(channel, &message, &request)
                       : nw_channel_receive(channel, &message, &request));
    channel_must(nw_channel_wait(&request, NULL));
}

/* Rank 0 sends the contents of this turn from newly written host memory. */
static void send(long turn, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        host[i] = hazard_byte(turn, 0, i);
    if (turn % 2)
        by_channel(true, host, bytes);
    else
        hazard_must(MPI_Send(host, (int)bytes, MPI_CHAR, 1, 1, MPI_COMM_WORLD),
                    "MPI_Send");
    memset(host, 0x33, bytes); /* allowed: the send is complete */
}

static void receive(long turn, size_t bytes, MPI_Datatype type)
{
    void *memory = (void *)(uintptr_t)exchange_in;

    if (turn % 2)
        by_channel(false, memory, bytes);
    else
        hazard_must(
            MPI_Recv(memory, 1, type, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
            "MPI_Recv");
}

/* Reads the received bytes in a stream of its own, and counts the wrong
 * ones. */
static long look(long turn, size_t blocks, size_t block, size_t step)
{
    size_t extent = blocks * step;
    long wrong = 0;

    hazard_must(
        hazard.copy((uint64_t)(uintptr_t)image, exchange_in, extent, stream),
        "cuMemcpyAsync");
    hazard_must(hazard.wait(stream), "cuStreamSynchronize");
    for (size_t i = 0; i < blocks * block; i++)
        wrong += image[i / block * step + i % block] != hazard_byte(turn, 0, i);
    return wrong;
}

static long one(long turn)
{
    size_t block = (size_t)64 << turn % 9, blocks = 1 + (size_t)turn % 4;
    size_t step = turn % 2 ? block : block + (size_t)(turn % 37);
    MPI_Datatype type;
    long wrong = 0;

    if (!hazard.rank) {
        send(turn, blocks * block);
        return 0;
    }
    MPI_Type_vector((int)blocks, (int)block, (int)step, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    receive(turn, blocks * block, type);
    wrong = look(turn, blocks, block, step);
    MPI_Type_free(&type);
    return wrong;
}

int main(int argc, char **argv)
{
    long turns = argc > 1 ? atol(argv[1]) : 10000, wrong = 0;

    hazard_begin("pageable", MPI_THREAD_SINGLE);
    hazard_primary();
    exchange_in = hazard_memory(PAGEABLE_MOST);
    host = malloc(PAGEABLE_MOST);
    hazard_must(hazard.pin((void **)&image, PAGEABLE_MOST, 0),
                "cuMemHostAlloc");
    hazard_must(hazard.stream_new(&stream, HAZARD_NON_BLOCKING),
                "cuStreamCreate");
    channel_must(nw_channel_open_mpi(MPI_COMM_WORLD, NULL, &channel));
    for (long turn = 0; turn < turns; turn++)
        wrong += one(turn);
    nw_channel_close(channel);
    free(host);
    return hazard_end(wrong);
}

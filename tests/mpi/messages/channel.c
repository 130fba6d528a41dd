/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests a channel whose ranks find each other through MPI: each rank sends to
 * all others, alternately from and to host and GPU memory. Rank 0 prints
 * "right". */
#include <nodewise/channel.h>
#include <nodewise/channel_mpi.h>

#include <stdio.h>
#include <string.h>

enum { BYTES = 3000, RANKS = 16 };

static int rank, size;

static void need(nw_status status)
{
    if (!status)
        return;
    fprintf(stderr, "rank %d: %s\n", rank, nw_error_text());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static unsigned char byte_of(int from, int to, int at)
{
    return (unsigned char)(from * 31 + to * 7 + at);
}

static void *message_to(int to)
{
    unsigned char bytes[BYTES];
    void *memory;

    for (int i = 0; i < BYTES; i++)
        bytes[i] = byte_of(rank, to, i);
    need(nw_channel_memory_new(to % 2 == 0, BYTES, &memory));
    need(nw_channel_memory_copy(memory, bytes, BYTES));
    return memory;
}

static int is_right(const void *memory, int from)
{
    unsigned char bytes[BYTES];

    need(nw_channel_memory_copy(bytes, memory, BYTES));
    for (int i = 0; i < BYTES; i++)
        if (bytes[i] != byte_of(from, rank, i))
            return 0;
    return 1;
}

static int opens_nowhere(struct nw_channel_options options, int is_wrong)
{
    struct nw_channel_options right = NW_CHANNEL_OPTIONS_INIT;
    nw_channel *channel = NULL;

    return nw_channel_open_mpi(MPI_COMM_WORLD, is_wrong ? &options : &right,
                               &channel) &&
           !channel;
}

/* Wrong options on one rank open no channel on any rank; nor does a provider
 * that only one rank does not have, which is found once all ranks have met. */
static int is_refused(void)
{
    struct nw_channel_options other = NW_CHANNEL_OPTIONS_INIT,
                              wrong = NW_CHANNEL_OPTIONS_INIT,
                              late = NW_CHANNEL_OPTIONS_INIT;

    other.size = 0;
    wrong.credits = 1;
    late.provider = "nowhere";
    return opens_nowhere(other, rank == size - 1) &&
           opens_nowhere(wrong, rank == 0) && opens_nowhere(late, rank == 0);
}

int main(int argc, char **argv)
{
    void *out[RANKS], *in[RANKS];
    nw_channel_request *request[2 * RANKS];
    nw_channel *channel;
    int right, all;
    nw_status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = is_refused();
    status = nw_channel_open_mpi(MPI_COMM_WORLD, NULL, &channel);
    if (status) { /* the error is on all ranks, so that no rank waits for
                     another */
        fprintf(stderr, "rank %d: %s\n", rank, nw_error_text());
        MPI_Finalize();
        return 1;
    }
    for (int i = 0; i < size; i++) {
        out[i] = message_to(i);
        need(nw_channel_memory_new(i % 3 == 0, BYTES, &in[i]));
        need(nw_channel_receive(
            channel, &(struct nw_channel_message){in[i], BYTES, i, 5},
            &request[i]));
        need(nw_channel_send(channel,
                             &(struct nw_channel_message){out[i], BYTES, i, 5},
                             &request[size + i]));
    }
    for (int i = 0; i < 2 * size; i++)
        need(nw_channel_wait(&request[i], NULL));
    for (int i = 0; i < size; i++) {
        right &= is_right(in[i], i);
        nw_channel_memory_free(i % 2 == 0, out[i]);
        nw_channel_memory_free(i % 3 == 0, in[i]);
    }
    nw_channel_close(channel);
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!rank)
        printf("%s\n", all ? "right" : "wrong");
    MPI_Finalize();
    return !all;
}

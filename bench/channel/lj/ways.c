/* SPDX-License-Identifier: BSD-3-Clause */
/* Defines the methods that send messages of particles, and measures the time of
 * a single message by each method. A method uses MPI, or a channel with one
 * protocol and one copy. All methods must give the result of the MPI method. */
#include "lj.h"

#include "base/clock.h"

#include <mpi.h>
#include <nodewise/channel.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOT = 16384, TRIPS = 20, ROUNDS = 41, WARM = 3 };

struct lj_way {
    bool device;
    nw_channel *channel; /* NULL: MPI */
};

static const struct {
    const char *name;
    bool device;
    enum nw_channel_protocol protocol;
    enum nw_channel_copy copy;
} ways[] = {
    {"host", false, NW_CHANNEL_GATHER, NW_CHANNEL_COPY_AUTO},
    {"rendezvous", true, NW_CHANNEL_RENDEZVOUS, NW_CHANNEL_COPY_AUTO},
    {"loopback", true, NW_CHANNEL_GATHER, NW_CHANNEL_LOOPBACK},
    {"fastcopy", true, NW_CHANNEL_GATHER, NW_CHANNEL_FASTCOPY},
    {"auto", true, NW_CHANNEL_AUTO, NW_CHANNEL_COPY_AUTO},
};
enum { WAYS = sizeof ways / sizeof *ways };

static struct lj_way *open_channel(int i)
{
    struct nw_channel_options options = NW_CHANNEL_OPTIONS_INIT;
    struct lj_way *way = calloc(1, sizeof *way);

    lj_must(way != NULL, "memory");
    way->device = ways[i].device;
    options.protocol = ways[i].protocol;
    options.copy = ways[i].copy;
    options.slot_bytes = SLOT;
    lj_must(!nw_channel_open_mpi(MPI_COMM_WORLD, &options, &way->channel),
            nw_error_text());
    return way;
}

struct lj_way *lj_way_open(const char *name)
{
    for (int i = 0; i < WAYS; i++)
        if (!strcmp(ways[i].name, name))
            return open_channel(i);
    lj_must(!strcmp(name, "mpi"), "mpi, host, rendezvous, loopback, fastcopy "
                                  "or auto");
    return calloc(1, sizeof(struct lj_way));
}

void lj_way_close(struct lj_way *way)
{
    nw_channel_close(way->channel);
    free(way);
}

bool lj_way_is_timed(const struct lj_way *way)
{
    return way->channel != NULL;
}

static void swap_by_mpi(const struct lj_move move[LJ_SIDES])
{
    MPI_Request request[2 * LJ_SIDES];

    for (int s = 0; s < LJ_SIDES; s++)
        MPI_Irecv(move[s].in, (int)move[s].in_bytes, MPI_BYTE, move[s].from, s,
                  MPI_COMM_WORLD, &request[s]);
    for (int s = 0; s < LJ_SIDES; s++)
        MPI_Isend(move[s].out, (int)move[s].out_bytes, MPI_BYTE, move[s].to, s,
                  MPI_COMM_WORLD, &request[LJ_SIDES + s]);
    MPI_Waitall(2 * LJ_SIDES, request, MPI_STATUSES_IGNORE);
}

void lj_way_swap(struct lj_way *way, const struct lj_move move[LJ_SIDES])
{
    nw_channel_request *request[2 * LJ_SIDES];
    nw_status status = NW_OK;

    if (!way->channel) {
        swap_by_mpi(move);
        return;
    }
    for (int s = 0; s < LJ_SIDES && !status; s++)
        status = nw_channel_receive(
            way->channel,
            &(struct nw_channel_message){move[s].in, move[s].in_bytes,
                                         move[s].from, s},
            &request[s]);
    for (int s = 0; s < LJ_SIDES && !status; s++)
        status =
            nw_channel_send(way->channel,
                            &(struct nw_channel_message){
                                move[s].out, move[s].out_bytes, move[s].to, s},
                            &request[LJ_SIDES + s]);
    for (int i = 0; i < 2 * LJ_SIDES && !status; i++)
        status = nw_channel_wait(&request[i], NULL);
    lj_must(!status, nw_error_text());
}

/* -- a single message: half a round trip -- */

static void pass(struct lj_way *way, bool sends, void *memory, size_t bytes)
{
    struct nw_channel_message message = {memory, bytes, 0, 0};
    nw_channel_request *request = NULL;
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    message.peer = !rank;
    lj_must(!(sends ? nw_channel_send(way->channel, &message, &request)
                    : nw_channel_receive(way->channel, &message, &request)) &&
                !nw_channel_wait(&request, NULL),
            nw_error_text());
}

static double time_way(struct lj_way *way, int rank, void *memory, size_t bytes)
{
    uint64_t begun = 0;

    for (int i = -WARM; i < TRIPS; i++) {
        if (!i)
            begun = nw_clock_ns();
        pass(way, !rank, memory, bytes);
        pass(way, rank, memory, bytes);
    }
    return (double)(nw_clock_ns() - begun) * 1e-3 / (2 * TRIPS);
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void measure(struct lj_way **way, int rank, void *const memory[2],
                    size_t bytes)
{
    double times[WAYS][ROUNDS];

    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < WAYS; i++)
            times[i][r] = time_way(way[i], rank, memory[way[i]->device], bytes);
    if (rank)
        return;
    printf("%zu", bytes);
    for (int i = 0; i < WAYS; i++) {
        qsort(times[i], ROUNDS, sizeof times[i][0], by_time);
        printf("\t%.3f", times[i][ROUNDS / 2]);
    }
    printf("\n");
}

void lj_ways_measure(int rank)
{
    struct lj_way *way[WAYS];
    void *memory[2] = {malloc(4 * SLOT), lj_memory(4 * SLOT)};

    lj_must(memory[0] != NULL, "memory");
    for (int i = 0; i < WAYS; i++)
        way[i] = open_channel(i);
    for (int i = 0; i < WAYS && !rank; i++)
        printf("%s%s", i ? "\t" : "bytes\t", ways[i].name);
    if (!rank)
        printf("\n");
    for (size_t bytes = 8; bytes <= 4 * SLOT; bytes *= 2)
        measure(way, rank, memory, bytes);
    for (int i = 0; i < WAYS; i++)
        lj_way_close(way[i]);
    free(memory[0]);
}

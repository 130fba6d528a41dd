/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise bench channel choice: every way beside the one that is chosen, in
 * turns on the same two processes, so that each size shows what choosing
 * costs. */
#include "cli/bench_tell.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/median.h"
#include "base/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAYS = 14, TAG = 1, TURNS = 10 };

struct way {
    enum nw_channel_protocol protocol;
    enum nw_channel_copy copy;
    nw_channel *channel;
    double *seconds; /* of each round */
    double median;
};

struct chooser {
    const struct nw_channel_bench *bench;
    int32_t rank;
    void *memory[2]; /* to send from, to receive into */
    int count;       /* of ways; the first chooses */
    struct way way[WAYS];
    struct nw_channel_result seen[2]; /* of the last send, receive */
    double worst;
};

static nw_status one(struct chooser *c, nw_channel *channel, bool send,
                     size_t bytes)
{
    struct nw_channel_message message = {c->memory[!send], bytes, !c->rank,
                                         TAG};
    nw_channel_request *request = NULL;
    nw_status status = send ? nw_channel_send(channel, &message, &request)
                            : nw_channel_receive(channel, &message, &request);

    return status ? status : nw_channel_wait(&request, &c->seen[!send]);
}

static nw_status time_way(struct chooser *c, struct way *way, size_t bytes,
                          double *seconds)
{
    nw_status status = NW_OK;
    uint64_t start = 0;

    for (int i = -1; i < TURNS && !status; i++) {
        if (!i)
            start = nw_clock_ns();
        status = one(c, way->channel, !c->rank, bytes);
        if (!status)
            status = one(c, way->channel, c->rank, bytes);
    }
    *seconds = (double)(nw_clock_ns() - start) * 1e-9 / (2 * TURNS);
    return status;
}

static struct nw_bench_way way_of(enum nw_channel_protocol protocol,
                                  enum nw_channel_copy copy, double seconds)
{
    struct nw_bench_way out = {.seconds = seconds};

    snprintf(out.name, sizeof out.name, "%s%s%s", nw_bench_protocols[protocol],
             copy ? " " : "", copy ? nw_bench_copies[copy] : "");
    return out;
}

static size_t rounds_of(const struct nw_channel_bench *bench)
{
    return (size_t)((bench->iterations + TURNS - 1) / TURNS);
}

/* Of medians, since the least of many ways' least is below any one's. */
static const struct way *best_of(struct chooser *c)
{
    const struct way *best = &c->way[1];

    for (int i = 0; i < c->count; i++)
        c->way[i].median = nw_median(c->way[i].seconds, rounds_of(c->bench));
    for (int i = 2; i < c->count; i++)
        if (c->way[i].median < best->median)
            best = &c->way[i];
    return best;
}

static nw_status compare(struct chooser *c, size_t bytes)
{
    struct nw_channel_result chosen[2] = {{.bytes = 0}};
    size_t count = (size_t)c->count;
    struct nw_bench_way told[2];
    nw_status status = NW_OK;

    for (size_t r = 0; r < rounds_of(c->bench) && !status; r++)
        for (size_t i = 0; i < count && !status; i++) {
            // each in turn the first, so that none has a place of its own
            struct way *way = &c->way[(r + i) % count];

            status = time_way(c, way, bytes, &way->seconds[r]);
            if (way == c->way)
                memcpy(chosen, c->seen, sizeof chosen);
        }
    if (status || c->rank)
        return status;
    const struct way *best = best_of(c);
    c->worst = fmax(c->worst, c->way[0].median / best->median);
    told[0] = way_of(best->protocol, best->copy, best->median);
    told[1] = way_of(chosen[0].protocol, chosen[1].copy, c->way[0].median);
    nw_bench_tell_choice(c->bench, bytes, &told[0], &told[1]);
    return NW_OK;
}

/* The later channels meet over the first one. */
static nw_status meet(void *context, const void *mine, size_t bytes, void *all)
{
    struct chooser *c = context;
    char *theirs = (char *)all + (c->rank ? 0 : bytes);
    nw_channel_request *in = NULL, *out = NULL;
    nw_channel *channel = c->way[0].channel;
    nw_status status = nw_channel_receive(
        channel, &(struct nw_channel_message){theirs, bytes, !c->rank, TAG},
        &in);

    memcpy((char *)all + (c->rank ? bytes : 0), mine, bytes);
    if (!status)
        status = nw_channel_send(
            channel,
            &(struct nw_channel_message){(void *)mine, bytes, !c->rank, TAG},
            &out);
    if (!status)
        status = nw_channel_wait(&out, NULL);
    return status ? status : nw_channel_wait(&in, NULL);
}

/* A channel for each way, all between the same two processes. */
static nw_status open_way(struct chooser *c, enum nw_channel_protocol protocol,
                          enum nw_channel_copy copy)
{
    struct nw_channel_options options = c->bench->channel;
    struct way *way = &c->way[c->count];
    nw_status status;

    *way = (struct way){.protocol = protocol, .copy = copy};
    options.rank = c->rank;
    options.count = 2;
    options.file = c->bench->file[0] ? c->bench->file : NULL;
    options.allgather = c->count ? meet : NULL;
    options.context = c;
    options.protocol = protocol;
    options.copy = copy;
    c->count++;
    status = nw_alloc(rounds_of(c->bench), sizeof *way->seconds, &way->seconds);
    return status ? status : nw_channel_open(&options, &way->channel);
}

static nw_status open_ways(struct chooser *c)
{
    bool copies = c->bench->gpu[1];
    nw_status status = open_way(c, NW_CHANNEL_AUTO, NW_CHANNEL_COPY_AUTO);

    for (int p = NW_CHANNEL_GATHER; p < NW_CHANNEL_PROTOCOLS && !status; p++) {
        bool all = copies && p != NW_CHANNEL_RENDEZVOUS;

        for (int k = all ? NW_CHANNEL_NAIVE : 0;
             k < (all ? NW_CHANNEL_COPIES : 1) && !status; k++)
            status = open_way(c, (enum nw_channel_protocol)p,
                              (enum nw_channel_copy)k);
    }
    return status;
}

nw_status nw_bench_choice(const struct nw_channel_bench *bench, int32_t rank)
{
    struct chooser c = {.bench = bench, .rank = rank};
    nw_status status = NW_OK;

    for (int i = 0; i < 2 && !status; i++)
        status = nw_channel_memory_new(bench->gpu[i], bench->largest + 1,
                                       &c.memory[i]);
    if (!status)
        status = open_ways(&c);
    if (!status && !rank)
        nw_bench_tell_head(bench, c.way[0].channel);
    for (size_t bytes = 1; bytes <= bench->largest && !status; bytes *= 2)
        status = compare(&c, bytes);
    if (!status && !rank)
        nw_bench_tell_end(bench, c.worst);
    for (int i = 0; i < c.count; i++) {
        nw_channel_close(c.way[i].channel);
        free(c.way[i].seconds);
    }
    for (int i = 0; i < 2; i++)
        nw_channel_memory_free(bench->gpu[i], c.memory[i]);
    return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise bench channel choice: compares each protocol and copy method with
 * those that the channel chooses. All take turns on one channel, so that each
 * message size shows the cost of a wrong choice. Separate channels are not
 * comparable: the address of the endpoints' shared memory changes the time of a
 * small message by up to a fifth. */
#include "cli/bench_output.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/median.h"
#include "base/random.h"
#include "base/status.h"
#include "base/cache_touch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* At most METHODS pairs of protocol and copy method are compared; each
 * measurement is the mean of TURNS round trips. */
enum { METHODS = 14, TAG = 1, TURNS = 10 };

/* A protocol and a copy method, with their measurements at the current message
 * size. */
struct bench_choice_method {
    enum nw_channel_protocol protocol;
    enum nw_channel_copy copy;
    double *seconds; /* [rounds] time of a message in s */
    double median;
};

/* One of the two ranks of the test. */
struct chooser {
    const struct nw_channel_bench *bench;
    nw_channel *channel;
    int32_t rank;
    void *memory[2]; /* send buffer, receive buffer */
    /* number of pairs of protocol and copy method to compare; the first is the
     * channel's choice */
    int count;
    struct bench_choice_method method[METHODS];
    struct nw_channel_result seen[2]; /* results of the last send and of the
                                         last receive */
    double worst;  /* largest ratio of the chosen to the best time over all
                      sizes */
    bool touches;  /* whether buffers are touched in this turn, see
                      is_touched() */
    unsigned word; /* bytes written and read, see base/cache_touch.h */
};

/* Returns true if the CPU writes the message before it is sent, or reads it
 * after it is received. It does so in every second round trip, unless the
 * buffer is in GPU memory. This measures messages with data in the CPU's caches
 * and out of them. */
static bool is_touched(const struct chooser *c, bool send)
{
    return c->touches && !c->bench->gpu[!send];
}

static nw_status bench_choice_one(struct chooser *c, bool send, size_t bytes)
{
    struct nw_channel_message message = {c->memory[!send], bytes, !c->rank,
                                         TAG};
    nw_channel_request *request = NULL;
    nw_status status;

    if (send && is_touched(c, true))
        nw_cache_touch_write(c->memory[0], bytes, &c->word);
    status = send ? nw_channel_send(c->channel, &message, &request)
                  : nw_channel_receive(c->channel, &message, &request);
    if (!status)
        status = nw_channel_wait(&request, &c->seen[!send]);
    if (!send && is_touched(c, false))
        nw_cache_touch_read(c->memory[1], bytes, &c->word);
    return status;
}

/* Measures the mean time of a message in s with one protocol and copy method.
 * The first of the TURNS + 1 round trips is not timed. */
static nw_status time_method(struct chooser *c,
                             struct bench_choice_method *method, size_t bytes,
                             double *seconds)
{
    nw_status status = NW_OK;
    uint64_t start = 0;

    nw_channel_force(c->channel, method->protocol, method->copy);
    for (int i = -1; i < TURNS && !status; i++) {
        if (!i)
            start = nw_clock_ns();
        c->touches = i & 1;
        status = bench_choice_one(c, !c->rank, bytes);
        if (!status)
            status = bench_choice_one(c, c->rank, bytes);
    }
    *seconds = (double)(nw_clock_ns() - start) * 1e-9 / (2 * TURNS);
    return status;
}

static struct nw_bench_method method_of(enum nw_channel_protocol protocol,
                                        enum nw_channel_copy copy,
                                        double seconds)
{
    struct nw_bench_method out = {.seconds = seconds};

    snprintf(out.name, sizeof out.name, "%s%s%s", nw_bench_protocols[protocol],
             copy ? " " : "", copy ? nw_bench_copies[copy] : "");
    return out;
}

static size_t rounds_of(const struct nw_channel_bench *bench)
{
    return (size_t)((bench->iterations + TURNS - 1) / TURNS);
}

/* Sets the medians, and returns the entry with the smallest one, without entry
 * 0, the channel's own choice. The minimum instead of the median would favour
 * the best of many entries over the single choice. */
static const struct bench_choice_method *best_of(struct chooser *c)
{
    const struct bench_choice_method *best = &c->method[1];

    for (int i = 0; i < c->count; i++)
        c->method[i].median =
            nw_median(c->method[i].seconds, rounds_of(c->bench));
    for (int i = 2; i < c->count; i++)
        if (c->method[i].median < best->median)
            best = &c->method[i];
    return best;
}

/* Measures each entry once, in a random order that both ranks derive from the
 * number of the round. The order differs between rounds, because each protocol
 * leaves other data in the cache. These data change the time of the next
 * protocol by up to a quarter. `chosen` receives the results of the last send
 * and receive with the channel's own choice. */
static nw_status time_round(struct chooser *c, size_t bytes, size_t round,
                            struct nw_channel_result chosen[2])
{
    struct nw_random random;
    int32_t order[METHODS];
    nw_status status = NW_OK;

    for (int i = 0; i < c->count; i++)
        order[i] = i;
    nw_random_init(&random, round);
    nw_random_shuffle(&random, order, (size_t)c->count);
    for (int i = 0; i < c->count && !status; i++) {
        struct bench_choice_method *method = &c->method[order[i]];

        status = time_method(c, method, bytes, &method->seconds[round]);
        if (method == c->method)
            memcpy(chosen, c->seen, sizeof c->seen);
    }
    return status;
}

/* Measures all entries for messages of `bytes`; rank 0 prints the best entry
 * and the channel's choice, and updates c->worst. */
static nw_status bench_choice_compare(struct chooser *c, size_t bytes)
{
    struct nw_channel_result chosen[2] = {{.bytes = 0}};
    struct nw_bench_method told[2];
    nw_status status = NW_OK;

    for (size_t r = 0; r < rounds_of(c->bench) && !status; r++)
        status = time_round(c, bytes, r, chosen);
    if (status || c->rank)
        return status;
    const struct bench_choice_method *best = best_of(c);
    c->worst = fmax(c->worst, c->method[0].median / best->median);
    told[0] = method_of(best->protocol, best->copy, best->median);
    told[1] =
        method_of(chosen[0].protocol, chosen[1].copy, c->method[0].median);
    nw_bench_tell_choice(c->bench, bytes, &told[0], &told[1]);
    return NW_OK;
}

static nw_status add_method(struct chooser *c,
                            enum nw_channel_protocol protocol,
                            enum nw_channel_copy copy)
{
    struct bench_choice_method *method = &c->method[c->count++];

    *method = (struct bench_choice_method){.protocol = protocol, .copy = copy};
    return nw_alloc(rounds_of(c->bench), sizeof *method->seconds,
                    &method->seconds);
}

static nw_status open_channel(struct chooser *c)
{
    struct nw_channel_options options = c->bench->channel;

    options.rank = c->rank;
    options.count = 2;
    options.file = c->bench->file[0] ? c->bench->file : NULL;
    return nw_channel_open(&options, &c->channel);
}

/* Adds the channel's choice, then every protocol; with each copy method if the
 * receive buffer is GPU memory and the protocol copies. */
static nw_status add_methods(struct chooser *c)
{
    bool copies = c->bench->gpu[1];
    nw_status status = add_method(c, NW_CHANNEL_AUTO, NW_CHANNEL_COPY_AUTO);

    for (int p = NW_CHANNEL_GATHER; p < NW_CHANNEL_PROTOCOLS && !status; p++) {
        bool all = copies && p != NW_CHANNEL_RENDEZVOUS;

        for (int k = all ? NW_CHANNEL_NAIVE : 0;
             k < (all ? NW_CHANNEL_COPIES : 1) && !status; k++)
            status = add_method(c, (enum nw_channel_protocol)p,
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
        status = add_methods(&c);
    if (!status)
        status = open_channel(&c);
    if (!status && !rank)
        nw_bench_tell_head(bench, c.channel);
    for (size_t bytes = 1; bytes <= bench->largest && !status; bytes *= 2)
        status = bench_choice_compare(&c, bytes);
    if (!status && !rank)
        nw_bench_tell_end(bench, c.worst);
    nw_channel_close(c.channel);
    for (int i = 0; i < c.count; i++)
        free(c.method[i].seconds);
    for (int i = 0; i < 2; i++)
        nw_channel_memory_free(bench->gpu[i], c.memory[i]);
    return status;
}

const char *const nw_bench_protocols[NW_CHANNEL_PROTOCOLS + 1] = {
    "auto", "gather", "pack", "two", "rendezvous", "fetch", NULL};

const char *const nw_bench_copies[NW_CHANNEL_COPIES + 1] = {
    "auto", "naive", "loopback", "fastcopy", NULL};

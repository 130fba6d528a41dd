/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures how much time the channel adds to libfabric between host memories of
 * two processes. The methods are compared in turns:
 * - a bare ping-pong of fi_sendv, with the channel's header of 32 bytes and the
 *   payload, which are received into one buffer and not copied out of it;
 * - one of fi_send from a buffer into which both are packed;
 * - one of fi_senddata of only the payload, whose header is a word that is sent
 *   with it;
 * - the channel by scatter-gather, by packing, by CMA, and as it chooses.
 *
 * All endpoints are opened many times: the place of the memory that two
 * endpoints share changes the time of a small message by up to a fifth, for as
 * long as they are open. For each size, the program prints the median over all
 * turns of half a round trip, and by how many nanoseconds packing takes longer:
 * without the channel (than fi_sendv and than fi_senddata) and with it. These
 * differences are means of the middle half of the differences between
 * consecutive trips.
 */
#include "base/array.h"
#include "base/clock.h"
#include "base/median.h"
#include "base/cache_touch.h"
#include "channel/fabric/endpoint.h"
#include "channel/state.h"
#include "channel/proto/wire.h"

#include <nodewise/channel.h>

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    OPENINGS = 20,
    TURNS = 15, /* of each */
    TRIPS = 100,
    PAIRS = 1000,
    WARM = 10,
    SLOT = 8192,
    MOST = 65536
};
enum { BARE, BARE_PACK, BARE_WORD, GATHER, PACK, CMA, AUTO, WAYS };
static const size_t sizes[] = {8,    64,   256,   1024,  2048,
                               4096, 8192, 16384, 32768, 65536};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* The measurements of one size: half round trips in us, and differences between
 * ways in ns. */
static struct found {
    double times[WAYS][OPENINGS * TURNS], more[3][OPENINGS * PAIRS];
} of_size[SIZES];

struct end {
    int rank, wire; /* wire: a socket to the other process */
    bool writes;    /* writes each message before it is sent, and reads it at
                       the end */
    unsigned word;
    struct nw_endpoint fabric;
    fi_addr_t other;
    nw_channel *channel;
    char *out, *in, *packed;
    struct fi_context2 sent, come;
};

/* Ends the program with an error unless `bad` is 0. */
static void must(int bad, const char *what)
{
    if (!bad)
        return;
    fprintf(stderr, "bare: %s: %s\n", what, nw_error_text());
    exit(1);
}

static nw_status swap(void *context, const void *mine, size_t bytes, void *all)
{
    const struct end *end = context;
    char *both = all;

    memcpy(both + (size_t)end->rank * bytes, mine, bytes);
    must(write(end->wire, mine, bytes) != (ssize_t)bytes, "write");
    must(recv(end->wire, both + (size_t)!end->rank * bytes, bytes,
              MSG_WAITALL) != (ssize_t)bytes,
         "read");
    return NW_OK;
}

/* Posts the receive of the next message. */
static void await(struct end *end)
{
    must(fi_recv(end->fabric.ep, end->in, NW_WIRE_HEADER + MOST, NULL,
                 FI_ADDR_UNSPEC, &end->come) != 0,
         "fi_recv");
}

static ssize_t post_bare(struct end *end, int way, size_t bytes)
{
    static char head[NW_WIRE_HEADER];
    struct iovec iov[] = {{head, sizeof head}, {end->out, bytes}};
    void *descriptors[] = {NULL, NULL};

    if (way == BARE_WORD)
        return fi_senddata(end->fabric.ep, end->out, bytes, NULL, bytes,
                           end->other, &end->sent);
    if (way == BARE)
        return fi_sendv(end->fabric.ep, iov, descriptors, 2, end->other,
                        &end->sent);
    memcpy(end->packed, head, sizeof head);
    memcpy(end->packed + sizeof head, end->out, bytes);
    return fi_send(end->fabric.ep, end->packed, sizeof head + bytes, NULL,
                   end->other, &end->sent);
}

static void send_bare(struct end *end, int way, size_t bytes)
{
    ssize_t code;

    do
        code = post_bare(end, way, bytes);
    while (code == -FI_EAGAIN && fi_cq_read(end->fabric.cq, NULL, 0) <= 0);
    must(code != 0, "fi_sendv");
}

/* Waits until so many operations of either kind are complete. */
static void finish(struct end *end, int count)
{
    struct fi_cq_data_entry entries[2];

    for (unsigned idle = 1; count > 0; idle++) {
        ssize_t n = fi_cq_read(end->fabric.cq, entries, (size_t)count);

        must(n == -FI_EAVAIL, "fi_cq_read");
        count -= n > 0 ? (int)n : 0;
        if (idle % 200 == 0)
            (void)sched_yield();
    }
}

/* A round trip with the bare endpoint: it receives one message and sends one,
 * both of which are complete at its end. */
static void trip_bare(struct end *end, int way, size_t bytes)
{
    if (!end->rank)
        send_bare(end, way, bytes);
    finish(end, end->rank ? 1 : 2);
    if (end->writes)
        nw_cache_touch_read(end->in, NW_WIRE_HEADER + bytes, &end->word);
    await(end);
    if (end->rank) {
        send_bare(end, way, bytes);
        finish(end, 1);
    }
}

/* A round trip with the channel. */
static void trip_channel(struct end *end, int way, size_t bytes)
{
    static const enum nw_channel_protocol protocols[WAYS] = {
        [GATHER] = NW_CHANNEL_GATHER,
        [PACK] = NW_CHANNEL_PACK,
        [CMA] = NW_CHANNEL_CMA,
        [AUTO] = NW_CHANNEL_AUTO};

    end->channel->options.protocol = protocols[way];
    for (int i = 0; i < 2; i++) {
        bool sends = i == end->rank;
        struct nw_channel_message message = {sends ? end->out : end->in, bytes,
                                             !end->rank, 1};
        nw_channel_request *request = NULL;

        must(sends ? nw_channel_send(end->channel, &message, &request)
                   : nw_channel_receive(end->channel, &message, &request),
             "begin");
        must(nw_channel_wait(&request, NULL), "wait");
        if (!sends && end->writes)
            nw_cache_touch_read(end->in, bytes, &end->word);
    }
}

static void trip(struct end *end, int way, size_t bytes)
{
    if (end->writes)
        nw_cache_touch_write(end->out, bytes, &end->word);
    if (way >= GATHER)
        trip_channel(end, way, bytes);
    else
        trip_bare(end, way, bytes);
}

/* The mean time of half a round trip in microseconds. */
static double turn(struct end *end, int way, size_t bytes)
{
    uint64_t start = 0;
    char both[2];

    must(swap(end, "", 1, both), "meet");
    for (int i = -WARM; i < TRIPS; i++) {
        if (!i)
            start = nw_clock_ns();
        trip(end, way, bytes);
    }
    return (double)(nw_clock_ns() - start) * 1e-3 / (2 * TRIPS);
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The mean of the middle half of the values: the steps of the clock are as
 * large as the differences that are measured, so that a median would be one of
 * those steps. */
static double middle(double *values, size_t count)
{
    double sum = 0;

    qsort(values, count, sizeof *values, by_time);
    for (size_t i = count / 4; i < count - count / 4; i++)
        sum += values[i];
    return sum / (double)(count - count / 4 * 2);
}

/* Makes round trips by two ways in the order a b b a, so that slow changes
 * affect both alike. `more` gets the time in ns that half a round trip takes
 * longer by the second way. */
static void contest(struct end *end, const int ways[2], size_t bytes,
                    double *more)
{
    char both[2];

    must(swap(end, "", 1, both), "meet");
    for (int i = -WARM; i < PAIRS; i++) {
        double took[2];

        for (int k = 0; k < 2; k++) {
            int which = k ^ (i & 1);
            uint64_t start = nw_clock_ns();

            trip(end, ways[which], bytes);
            took[which] = (double)(nw_clock_ns() - start);
        }
        if (i >= 0)
            more[i] = (took[1] - took[0]) / 2;
    }
}

/* Measures all ways in turns. Each turn begins with another method, and every
 * second turn uses the methods in the reverse order. Each method then follows
 * the channel as often as it follows the bare endpoint. This matters because
 * the connections of one leave the caches while those of the other are used. */
static void measure(struct end *end, size_t bytes, int opening,
                    struct found *found)
{
    static const int pairs[][2] = {
        {BARE, BARE_PACK}, {BARE_WORD, BARE_PACK}, {GATHER, PACK}};

    for (int i = opening * TURNS; i < (opening + 1) * TURNS; i++)
        for (int k = 0; k < WAYS; k++) {
            int way = (i / 2 + (i % 2 ? WAYS - k : k)) % WAYS;

            found->times[way][i] = turn(end, way, bytes);
        }
    for (int k = 0; k < 3 && bytes <= SLOT; k++)
        contest(end, pairs[k], bytes, &found->more[k][opening * PAIRS]);
}

static void tell(size_t bytes, struct found *found)
{
    printf("%zu", bytes);
    for (int way = 0; way < WAYS; way++)
        printf("\t%.3f", nw_median(found->times[way], OPENINGS * TURNS));
    for (int k = 0; k < 3; k++)
        printf("\t%.1f",
               bytes > SLOT ? NAN : middle(found->more[k], OPENINGS * PAIRS));
    printf("\n");
}

static void open_end(struct end *end, const char *provider)
{
    const char *providers[] = {provider, NULL};
    char names[2][NW_ENDPOINT_NAME];
    struct nw_channel_options options = NW_CHANNEL_OPTIONS_INIT;
    cpu_set_t core;

    CPU_ZERO(&core);
    CPU_SET((size_t)end->rank, &core);
    (void)sched_setaffinity(0, sizeof core, &core);
    must(nw_endpoint_open(providers, false, &end->fabric), "open");
    (void)swap(end, end->fabric.name, NW_ENDPOINT_NAME, names);
    must(nw_endpoint_meet(&end->fabric, names[!end->rank], &end->other),
         "meet");
    options.rank = end->rank;
    options.count = 2;
    options.allgather = swap;
    options.context = end;
    options.provider = provider;
    must(nw_channel_open(&options, &end->channel), "open");
    must(nw_alloc(MOST, 1, &end->out) ||
             nw_alloc(NW_WIRE_HEADER + MOST, 1, &end->packed) ||
             nw_alloc(NW_WIRE_HEADER + MOST, 1, &end->in),
         "allocate");
    memset(end->out, 1, MOST); /* otherwise all pages are the kernel's one
                                  page of zeros */
    await(end);
}

static void close_end(struct end *end)
{
    char both[2];

    must(swap(end, "", 1, both), "meet"); /* both have finished their trips */
    nw_channel_close(end->channel);
    nw_endpoint_close(&end->fabric);
    free(end->out);
    free(end->in);
    free(end->packed);
    end->out = end->in = end->packed = NULL;
    end->channel = NULL;
}

/* Measures all sizes, or only the given one. */
static void run(struct end *end, const char *provider, size_t only)
{
    int count = only ? 1 : SIZES;

    for (int opening = 0; opening < OPENINGS; opening++) {
        open_end(end, provider);
        for (int i = 0; i < count; i++)
            measure(end, only ? only : sizes[i], opening, &of_size[i]);
        close_end(end);
    }
    if (end->rank)
        return;
    printf("bytes\tbare\tbare pack\tbare word\tgather\tpack\tfetch\tauto\t"
           "bare pack more ns\tbare pack more than word ns\t"
           "pack more ns\n");
    for (int i = 0; i < count; i++)
        tell(only ? only : sizes[i], &of_size[i]);
}

int main(int argc, char **argv)
{
    struct end end = {0};
    int wires[2], how = 0;
    pid_t child;

    end.writes = argc > 3;
    must(argc < 2 || argc > 4, "usage: bare PROVIDER [BYTES [written]]");
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, wires), "socketpair");
    child = fork();
    end.rank = !child;
    end.wire = wires[!child];
    (void)close(wires[child != 0]);
    run(&end, argv[1], argc > 2 ? (size_t)atol(argv[2]) : 0);
    if (child)
        must(waitpid(child, &how, 0) != child || how, "the other process");
    return 0;
}

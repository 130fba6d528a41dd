/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the times of all protocols for small messages between two processes,
 * for each pair of memories (host, GPU), and with one or many messages in
 * flight. From these times it makes the tables of protocols. Each round
 * measures all protocols, so that a disturbance slows all of them equally. */
#include "channel/state.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/cache_touch.h"
#include "base/text.h"
#include "gpu/gpu.h"

#include <nodewise/progress.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 12, WINDOW = 32, TURNS = 8, TAG = 1, TAG_WORD };

static const size_t sizes[SIZES] = {1,    8,    64,   256,   1024,  2048,
                                    4096, 6144, 8192, 16384, 32768, 65536};

struct tuner {
    nw_channel *channel;
    int32_t rank;
    uint32_t rounds;
    struct nw_progress *progress;
    int32_t has_gpu, adapter, mapping, reads; /* capabilities of both ends */
    char *memory[2];                          /* host buffer, GPU buffer */
    size_t largest;
    struct nw_situation of;
    /* minimum over the rounds of the seconds of a message */
    double least[NW_CHANNEL_PROTOCOLS][NW_CHANNEL_COPIES][SIZES];
    int count; /* number of measured sizes */
    struct nw_thresholds thresholds;
    uint64_t done, total;
    bool touches;
    unsigned word;
};

static nw_status tune_begin(struct tuner *t, bool send,
                            struct nw_channel_message message,
                            nw_channel_request **out)
{
    message.peer = !t->rank;
    return send ? nw_channel_send(t->channel, &message, out)
                : nw_channel_receive(t->channel, &message, out);
}

static nw_status tune_pass(struct tuner *t, bool send,
                           struct nw_channel_message message)
{
    nw_channel_request *request = NULL;
    nw_status status = tune_begin(t, send, message, &request);

    return status ? status : nw_channel_wait(&request, NULL);
}

/* Returns true if this end reads or writes the message's host memory between
 * messages, as programs do. With one message in flight, every second turn is
 * measured in this way. */
static bool tune_is_touched(const struct tuner *t, bool send)
{
    return t->touches && !t->of.gpu[!send];
}

/* Returns the message that this end sends or receives. */
static struct nw_channel_message tune_of(const struct tuner *t, bool send,
                                         size_t bytes)
{
    return (struct nw_channel_message){t->memory[t->of.gpu[!send]], bytes, 0,
                                       TAG};
}

static nw_status tune_ping(struct tuner *t, size_t bytes)
{
    nw_status status = NW_OK;

    for (int i = 0; i < 2 && !status; i++) {
        bool send = i == t->rank;

        if (send && tune_is_touched(t, true))
            nw_cache_touch_write(t->memory[0], bytes, &t->word);
        status = tune_pass(t, send, tune_of(t, send, bytes));
        if (!send && tune_is_touched(t, false))
            nw_cache_touch_read(t->memory[0], bytes, &t->word);
    }
    return status;
}

static nw_status tune_flood(struct tuner *t, size_t bytes)
{
    nw_channel_request *requests[WINDOW] = {NULL};
    struct nw_channel_message word = {NULL, 0, 0, TAG_WORD};
    nw_status status = NW_OK;

    for (int i = 0; i < WINDOW && !status; i++)
        status =
            tune_begin(t, !t->rank, tune_of(t, !t->rank, bytes), &requests[i]);
    for (int i = 0; i < WINDOW; i++)
        if (requests[i]) {
            nw_status one = nw_channel_wait(&requests[i], NULL);

            status = status ? status : one;
        }
    return status ? status : tune_pass(t, t->rank != 0, word);
}

/* Rank 0 decides whether to continue and sends the decision to rank 1. If the
 * user has cancelled, both ranks return an error. */
static nw_status go_on(struct tuner *t)
{
    int32_t stop = t->progress && !t->rank &&
                   __atomic_load_n(&t->progress->cancelled, __ATOMIC_RELAXED);
    nw_status status =
        tune_pass(t, !t->rank,
                  (struct nw_channel_message){&stop, sizeof stop, 0, TAG_WORD});

    if (!status && stop)
        status = nw_fail(NW_ECANCELLED, "cancelled");
    return status;
}

static nw_status time_one(struct tuner *t, struct nw_protocol_copy method,
                          int size)
{
    bool many = t->of.regime == NW_REGIME_FLOOD;
    double *least = &t->least[method.protocol][method.copy][size], seconds;
    nw_status status = go_on(t);
    uint64_t start;

    if (!status)
        status = tune_ping(t, sizes[size]);
    start = nw_clock_ns();
    for (int i = 0; i < (many ? 1 : TURNS) && !status; i++) {
        t->touches = i & 1;
        status = many ? tune_flood(t, sizes[size]) : tune_ping(t, sizes[size]);
    }
    seconds =
        (double)(nw_clock_ns() - start) * 1e-9 / (many ? WINDOW : 2.0 * TURNS);
    if (!status && seconds < *least)
        *least = seconds;
    return status;
}

static bool tune_is_possible(const struct tuner *t,
                             struct nw_protocol_copy method)
{
    if (method.protocol == NW_CHANNEL_CMA && !t->reads)
        return false;
    if (method.protocol == NW_CHANNEL_RENDEZVOUS || !t->of.gpu[1])
        return method.copy == NW_CHANNEL_COPY_AUTO;
    return method.copy == NW_CHANNEL_NAIVE ||
           (method.copy == NW_CHANNEL_LOOPBACK && t->adapter) ||
           (method.copy == NW_CHANNEL_FASTCOPY && t->mapping);
}

static nw_status tune_time_round(struct tuner *t)
{
    nw_status status = NW_OK;

    if (t->progress && t->progress->update && !t->rank)
        t->progress->update(t->progress, t->done++, t->total, "measure");
    for (int p = NW_CHANNEL_GATHER; p < NW_CHANNEL_PROTOCOLS; p++)
        for (int c = 0; c < NW_CHANNEL_COPIES; c++) {
            struct nw_protocol_copy method = {(enum nw_channel_protocol)p,
                                              (enum nw_channel_copy)c};

            if (!tune_is_possible(t, method))
                continue;
            nw_channel_force(t->channel, method.protocol, method.copy);
            for (int i = 0; i < t->count && !status; i++)
                status = time_one(t, method, i);
        }
    return status;
}

/* Returns the seconds of a message of `bytes` bytes, interpolated linearly
 * between the measured sizes. */
static double tune_measured(const void *context, struct nw_protocol_copy method,
                            uint64_t bytes)
{
    const struct tuner *t = context;
    const double *least;
    int i = 1;

    least = t->least[method.protocol][method.copy];
    if (isinf(least[0]) || t->count < 2)
        return least[0];
    while (i < t->count - 1 && bytes > sizes[i])
        i++;
    return least[i - 1] + (least[i] - least[i - 1]) *
                              ((double)bytes - (double)sizes[i - 1]) /
                              (double)(sizes[i] - sizes[i - 1]);
}

static nw_status tune_one(struct tuner *t)
{
    struct nw_choice choice;
    nw_status status = NW_OK;

    for (int p = 0; p < NW_CHANNEL_PROTOCOLS; p++)
        for (int c = 0; c < NW_CHANNEL_COPIES; c++)
            for (int i = 0; i < SIZES; i++)
                t->least[p][c][i] = INFINITY;
    for (uint32_t i = 0; i < t->rounds && !status; i++)
        status = tune_time_round(t);
    if (status)
        return status;
    nw_choice_make(tune_measured, t, t->largest, &choice);
    return nw_thresholds_add(&t->thresholds, &t->of, &choice);
}

/* Measures both regimes for each pair of memories. Without a GPU, the only pair
 * is host and host. With a GPU, this pair is measured only if `host` is true.
 */
static nw_status tune_pairs(struct tuner *t, bool host)
{
    nw_status status = NW_OK;

    for (int pair = host ? 0 : 1; pair < (t->memory[1] ? 4 : 1); pair++)
        for (int r = 0; r < NW_REGIMES && !status; r++) {
            t->of.gpu[0] = pair & 1;
            t->of.gpu[1] = pair & 2;
            t->of.regime = (enum nw_regime)r;
            status = tune_one(t);
        }
    return status;
}

static nw_status tune_gpu(struct tuner *t, int32_t gpu, bool host)
{
    int fabric = t->channel->peer[!t->rank].fabric;
    void *before = nw_gpu_cuda.context(), *memory = NULL;
    nw_status status = nw_gpu_cuda.select(gpu);

    if (!status)
        status = nw_gpu_cuda.alloc(t->largest, &memory);
    nw_gpu_cuda.restore(before);
    if (status)
        return status;
    t->memory[1] = memory;
    t->of.locality = t->channel->locality[fabric][gpu];
    status = tune_pairs(t, host);
    nw_gpu_cuda.free(memory);
    t->memory[1] = NULL;
    return status;
}

/* Measures the first GPU of each locality. Rank 0 selects these GPUs and sends
 * the selection to rank 1. */
static nw_status tune_all(struct tuner *t)
{
    int fabric = t->channel->peer[!t->rank].fabric;
    bool seen[NW_LOCALITIES] = {false}, host = true;
    nw_status status = NW_OK;

    t->of.locality = NW_LOCAL_SOCKET;
    if (!t->has_gpu)
        return tune_pairs(t, true);
    for (int32_t gpu = 0; gpu < t->channel->gpu_count && !status; gpu++) {
        int32_t use = gpu < NW_GPUS && !seen[t->channel->locality[fabric][gpu]];

        status = tune_pass(
            t, !t->rank,
            (struct nw_channel_message){&use, sizeof use, 0, TAG_WORD});
        if (status || !use)
            continue;
        seen[t->channel->locality[fabric][gpu]] = true;
        status = tune_gpu(t, gpu, host);
        host = false;
    }
    return status;
}

/* Exchanges the capabilities of both ends, and keeps those that both have.
 * Fails if the numbers of GPUs or rounds differ. */
static nw_status tune_agree(struct tuner *t)
{
    int fabric = t->channel->peer[!t->rank].fabric;
    int32_t mine[5] = {t->channel->has_gpu ? t->channel->gpu_count : 0,
                       t->channel->fabric[fabric].hmem != NW_HMEM_NONE,
                       t->channel->mapping != NULL, (int32_t)t->rounds,
                       t->channel->ack_page &&
                           t->channel->peer[!t->rank].at_once},
            theirs[5] = {0};
    struct nw_channel_message out = {mine, sizeof mine, 0, TAG_WORD},
                              in = {theirs, sizeof theirs, 0, TAG_WORD};
    nw_status status = tune_pass(t, !t->rank, t->rank ? in : out);

    if (!status)
        status = tune_pass(t, t->rank != 0, t->rank ? out : in);
    if (!status && (mine[0] != theirs[0] || mine[3] != theirs[3]))
        status =
            nw_fail(NW_EINVAL,
                    "one end has %d GPU%s and %d round%s, the other %d and %d",
                    mine[0], nw_plural((uint64_t)mine[0]), mine[3],
                    nw_plural((uint64_t)mine[3]), theirs[0], theirs[3]);
    t->has_gpu = mine[0] > 0;
    t->adapter = mine[1] && theirs[1];
    t->mapping = mine[2] && theirs[2];
    t->reads = mine[4] && theirs[4];
    t->total = t->rounds * NW_REGIMES * (t->has_gpu ? 4 : 1);
    return status;
}

static void set_sizes(struct tuner *t)
{
    size_t most = t->channel->options.slot_bytes;

    while (t->count < SIZES && sizes[t->count] <= most)
        t->count++;
    t->largest = sizes[t->count - 1];
}

nw_status nw_channel_tune(const struct nw_channel_options *options,
                          uint32_t rounds, struct nw_progress *progress,
                          char **table)
{
    struct tuner t = {.rounds = rounds ? rounds : 5, .progress = progress};
    nw_status status = nw_channel_open(options, &t.channel);

    if (!status && t.channel->options.count != 2)
        status = nw_fail(NW_EINVAL, "a channel is tuned between two ranks");
    if (!status) {
        t.rank = t.channel->options.rank;
        set_sizes(&t);
        snprintf(t.of.provider, sizeof t.of.provider, "%.*s",
                 NW_PROVIDER_NAME - 1, nw_channel_provider(t.channel, !t.rank));
        status = nw_alloc(t.largest, 1, &t.memory[0]);
    }
    if (!status)
        status = tune_agree(&t);
    if (!status)
        status = tune_all(&t);
    if (!status && !t.rank)
        status = nw_thresholds_write(&t.thresholds, table);
    nw_channel_close(t.channel);
    nw_thresholds_fini(&t.thresholds);
    free(t.memory[0]);
    return status;
}

nw_status nw_channel_table_path(char **out)
{
    return nw_thresholds_path(out);
}

nw_status nw_channel_table_check(const char *file, const char *text)
{
    struct nw_thresholds thresholds = {0};
    char *copy = strdup(text);
    nw_status status = copy ? nw_thresholds_parse(file, copy, &thresholds)
                            : nw_fail(NW_ENOMEM, "out of memory");

    nw_thresholds_fini(&thresholds);
    free(copy);
    return status;
}

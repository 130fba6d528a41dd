/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise bench channel gather, allgather and alltoall: each rank posts all
 * its receives, then all its sends, as a collective operation that is made of
 * messages. */
#include "cli/bench_output.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 1, TAG_TIME, WARM = 10 };

/* One rank of a collective test. */
struct bench_collective_member {
    const struct nw_channel_bench *bench;
    nw_channel *channel;
    int32_t rank, count;
    char *from, *into;            /* send and receive buffer: [ranks] blocks */
    nw_channel_request **request; /* [2 * ranks] receives, then sends */
};

static nw_status bench_collective_take(struct bench_collective_member *m,
                                       int32_t peer, void *memory, size_t bytes)
{
    struct nw_channel_message message = {memory, bytes, peer, TAG};

    return nw_channel_receive(m->channel, &message, &m->request[peer]);
}

static nw_status bench_collective_give(struct bench_collective_member *m,
                                       int32_t peer, void *memory, size_t bytes)
{
    struct nw_channel_message message = {memory, bytes, peer, TAG};

    return nw_channel_send(m->channel, &message, &m->request[m->count + peer]);
}

static nw_status wait_for_all(struct bench_collective_member *m)
{
    nw_status status = NW_OK;

    for (int32_t i = 0; i < 2 * m->count; i++)
        if (m->request[i] && !status)
            status = nw_channel_wait(&m->request[i], NULL);
    return status;
}

/* Runs one collective operation. In a gather, each rank sends to rank 0 only.
 * Otherwise it sends to itself first, then to the next higher rank and so on,
 * so that not all ranks send to the same one at once. */
static nw_status bench_collective_collect(struct bench_collective_member *m,
                                          size_t bytes)
{
    bool all = m->bench->what != NW_TEST_GATHER;
    size_t step = m->bench->what == NW_TEST_ALLTOALL ? bytes : 0;
    nw_status status = NW_OK;

    for (int32_t i = 0; i < m->count && !status && (all || !m->rank); i++) {
        int32_t peer = (m->rank + m->count - i) % m->count;

        status = bench_collective_take(m, peer, m->into + (size_t)peer * bytes,
                                       bytes);
    }
    for (int32_t i = 0; i < m->count && !status; i++) {
        int32_t peer = (m->rank + i) % m->count;

        if (all || !peer)
            status = bench_collective_give(
                m, peer, m->from + (size_t)peer * step, bytes);
    }
    return status ? status : wait_for_all(m);
}

/* Sends *value to a peer, or receives it. */
static nw_status bench_collective_word(struct bench_collective_member *m,
                                       int32_t peer, bool send, double *value)
{
    struct nw_channel_message message = {value, sizeof *value, peer, TAG_TIME};
    nw_channel_request *request = NULL;
    nw_status status = send
                           ? nw_channel_send(m->channel, &message, &request)
                           : nw_channel_receive(m->channel, &message, &request);

    return status ? status : nw_channel_wait(&request, NULL);
}

/* Replaces *value on rank 0 by the mean over all ranks. All ranks call it; none
 * returns before rank 0 has all values, so that it also synchronises the
 * ranks. */
static nw_status bench_collective_mean(struct bench_collective_member *m,
                                       double *value)
{
    double sum = *value, one = 0;
    nw_status status = NW_OK;

    if (m->rank) {
        status = bench_collective_word(m, 0, true, value);
        return status ? status : bench_collective_word(m, 0, false, &one);
    }
    for (int32_t i = 1; i < m->count && !status; i++) {
        status = bench_collective_word(m, i, false, &one);
        sum += one;
    }
    for (int32_t i = 1; i < m->count && !status; i++)
        status = bench_collective_word(m, i, true, &one);
    *value = sum / m->count;
    return status;
}

/* Measures the mean time of a collective operation, which rank 0 prints, as
 * OSU's benchmarks do: the ranks synchronise before each operation, and only
 * the operation is timed. */
static nw_status bench_collective_measure(struct bench_collective_member *m,
                                          size_t bytes)
{
    nw_status status = NW_OK;
    double nothing = 0, seconds = 0;

    for (uint64_t i = 0; i < m->bench->iterations + WARM && !status; i++) {
        uint64_t start;

        status = bench_collective_mean(m, &nothing);
        start = nw_clock_ns();
        if (!status)
            status = bench_collective_collect(m, bytes);
        if (i >= WARM)
            seconds += (double)(nw_clock_ns() - start) * 1e-9;
    }
    if (!status)
        status = bench_collective_mean(m, &seconds);
    if (!status && !m->rank)
        nw_bench_tell_latency(m->bench, bytes,
                              seconds / (double)m->bench->iterations);
    return status;
}

/* Fills the send buffer with a byte that identifies this rank. */
static nw_status bench_collective_fill(struct bench_collective_member *m,
                                       size_t bytes)
{
    char *block = NULL;
    nw_status status = nw_alloc(bytes, 1, &block);

    if (status)
        return status;
    memset(block, 'a' + m->rank % 26, bytes);
    status = nw_channel_memory_copy(m->from, block, bytes);
    free(block);
    return status;
}

/* Checks the receive buffer of the last operation: block i must be filled with
 * the byte of rank i. */
static nw_status bench_collective_check(struct bench_collective_member *m,
                                        size_t bytes)
{
    char *block = NULL;
    nw_status status = nw_alloc(bytes, 1, &block);

    if (!status)
        status = nw_channel_memory_copy(block, m->into, bytes);
    for (size_t i = 0; i < bytes && !status; i++)
        if (block[i] != 'a' + (char)(i / (bytes / (size_t)m->count) % 26))
            status =
                nw_fail(NW_EIO, "byte %zu is wrong at rank %d", i, m->rank);
    free(block);
    return status;
}

static nw_status bench_collective_run(struct bench_collective_member *m)
{
    size_t all = m->bench->largest * (size_t)m->count;
    bool gathers = m->bench->what != NW_TEST_GATHER || !m->rank;
    nw_status status = bench_collective_fill(m, all);

    if (!status && !m->rank)
        nw_bench_tell_head(m->bench, m->channel);
    for (size_t bytes = 1; bytes <= m->bench->largest && !status; bytes *= 2) {
        status = bench_collective_measure(m, bytes);
        if (!status && gathers)
            status = bench_collective_check(m, bytes * (size_t)m->count);
    }
    if (!status && !m->rank)
        nw_bench_tell_end(m->bench, 0);
    return status;
}

nw_status nw_bench_collective(const struct nw_channel_bench *bench,
                              int32_t rank)
{
    struct nw_channel_options options = bench->channel;
    struct bench_collective_member m = {
        .bench = bench, .rank = rank, .count = (int32_t)bench->ranks};
    size_t room = bench->largest * (size_t)m.count;
    void *from = NULL, *into = NULL;
    nw_status status =
        nw_alloc(2 * (size_t)m.count, sizeof *m.request, &m.request);

    options.rank = rank;
    options.count = m.count;
    options.file = bench->file[0] ? bench->file : NULL;
    if (!status)
        status = nw_channel_memory_new(bench->gpu[0], room, &from);
    if (!status)
        status = nw_channel_memory_new(bench->gpu[1], room, &into);
    m.from = from;
    m.into = into;
    if (!status)
        status = nw_channel_open(&options, &m.channel);
    if (!status)
        status = bench_collective_run(&m);
    nw_channel_close(m.channel);
    nw_channel_memory_free(bench->gpu[0], from);
    nw_channel_memory_free(bench->gpu[1], into);
    free(m.request);
    return status;
}
